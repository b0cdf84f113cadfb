"""How a notation is refused: one reason, the span in the raw text, what was expected, and a way out."""

from __future__ import annotations

from fairroll_rules.errors import CheckError, Span

SYNTAX = "NOTATION_SYNTAX"
"""The text is not notation at the span."""

FOREIGN = "TOKEN_OF_OTHER_DIALECT"
"""The dialect does not know what stands at the span; `expected` names those that do."""

FREE = "for free text "
"""What a hint begins with that is about text which is no notation."""

LIMIT = "LIMIT_EXCEEDED"
"""A limit would be passed; the error names it, its value and what was given."""

SEVERAL = "SEVERAL_ROLLS"
"""The text holds more than one roll."""

NOT_WHOLE = "NOT_WHOLE"
"""A count, sides, an exponent or a clamp that is not always a whole number."""


def refuse(  # every part of an error has its own name
    reason: str, message: str, span: Span, *, expected: tuple[str, ...] = (), hint: str = "", value: str = ""
) -> CheckError:
    """Return the error for a notation that is refused; the message ends with the column, from 1."""
    return CheckError(
        reason,
        f"{message} (column {span.start + 1})",
        field="text",
        span=span,
        expected=expected,
        hint=hint,
        value=value,
    )


def beyond(
    limit: str, maximum: int, value: str, span: Span, *, minimum: int | None = None, hint: str = ""
) -> CheckError:
    """Return the error for a limit that would be passed."""
    shown = value if len(value) <= 40 else f"{value[:37]}..."
    least = "" if minimum is None else f"{minimum}.."
    return CheckError(
        LIMIT,
        f"{limit} is limited to {least}{maximum}, not {shown} (column {span.start + 1})",
        field="text",
        limit=limit,
        minimum=minimum,
        maximum=maximum,
        value=shown,
        span=span,
        hint=hint,
    )


def caret(text: str, span: Span) -> str:
    """Return the text and, under it, a caret for each code point of the span (at least one)."""
    flat = "".join(" " if sign.isspace() else sign for sign in text)
    return f"{flat}\n{' ' * span.start}{'^' * max(1, span.end - span.start)}"
