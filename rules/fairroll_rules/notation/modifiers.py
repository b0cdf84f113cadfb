"""Parsing the modifiers of a pool or group; the other half of the parser."""

from __future__ import annotations

from abc import ABC, abstractmethod

from fairroll_rules.errors import Span
from fairroll_rules.notation.dialects import Reading
from fairroll_rules.notation.faults import beyond, refuse
from fairroll_rules.notation.limits import MAX_MODIFIERS, MAX_WEIGHT
from fairroll_rules.notation.tokens import Scanner
from fairroll_rules.notation.tree import (
    Clamp,
    Compare,
    Count,
    Dice,
    Drop,
    Explode,
    Group,
    Keep,
    Mark,
    Modified,
    Modifier,
    Node,
    Number,
    ReadingWarning,
    Reroll,
    Sort,
    Unique,
    has_dice,
)

_OF_GROUPS = (Keep, Drop, Count, Sort)


class ModifierParser(ABC):
    """What parsing modifiers needs from the rest of the parser, and how they are parsed."""

    scan: Scanner
    reading: Reading
    warnings: list[ReadingWarning]

    @abstractmethod
    def factor(self, after: str, *what: str) -> Node:
        """`factor := number | variable | "(" expression ")"`."""

    @abstractmethod
    def count_node(self, span: Span) -> None:
        """Count one node of the tree."""

    def warn(self, token: str, span: Span) -> None:
        """Note what another dialect would read, where the dialect's table has it."""
        message = self.reading.warnings.get(token)
        if message is not None:
            self.warnings.append(ReadingWarning(_CODES[token], message, span))

    def modifiers(self, source: Dice | Group | Modified, start: int) -> Dice | Group | Modified:
        """`modifiers := modifier{0,12}`: sorted by phase; those of one phase stay as written."""
        scan = self.scan
        found: list[tuple[int, Modifier]] = []
        while True:
            at = scan.at
            name = "" if scan.peek() in "<>=" else scan.modifier()
            if not name and not (scan.peek() and scan.peek() in "<>="):
                break
            phase, modifier = self._modifier(name, at, source)
            self.count_node(modifier.span)
            found.append((phase, modifier))
            if len(found) > MAX_MODIFIERS:
                raise beyond("modifiers", MAX_MODIFIERS, str(len(found)), modifier.span)
            self._fits(modifier, source, [each for _, each in found[:-1]])
        if not found:
            return source
        found.sort(key=_phase)
        span = scan.since(start)
        self.count_node(span)
        return Modified(source, tuple([modifier for _, modifier in found]), span)

    def _modifier(self, name: str, start: int, source: Dice | Group | Modified) -> tuple[int, Modifier]:
        """`modifier := explode | reroll | unique | clamp | keep | drop | success | failure | mark | sort`."""
        known = self.reading.modifiers.get(name, "=" if not name else "")
        span = self.scan.since(start)
        if name == "r" or (name in ("d", "k", "cs", "cf") and not isinstance(source, Group)):
            self.warn(name, span)
        modifier = self._parse(known, name, start)
        return self.reading.phases[known], modifier

    def _parse(self, known: str, name: str, start: int) -> Modifier:
        match known:
            case "!":
                return self._explode(name, start)
            case "rr" | "ro":
                compare = self._optional_point()
                return Reroll(known == "ro", compare, self.scan.since(start))
            case "u" | "uo":
                return Unique(known == "uo", self.scan.since(start))
            case "min" | "max":
                limit = self._without_dice(self.factor(name, "a number"))
                return Clamp(known, limit, self.scan.since(start))
            case "kh" | "kl":
                count = self._selected()
                return Keep(known == "kh", count, self.scan.since(start))
            case "dh" | "dl":
                count = self._selected()
                return Drop(known == "dh", count, name == "d", self.scan.since(start))
            case "=" | "f":
                return self._count(known == "f", start)
            case "cs" | "cf":
                return Mark(known == "cf", self._optional_point(), self.scan.since(start))
            case _:
                return Sort(known == "sd", self.scan.since(start))

    def _explode(self, name: str, start: int) -> Explode:
        """`explode := ("!" | "!!") "p"? "o"? cap? compare? | ("x" | "xo") cap? compare?`: with cap := "~" factor."""
        scan = self.scan
        cap = self._without_dice(self.factor("~", "a number of extra rolls")) if scan.take("~") else None
        if name == "!" and scan.peek() == "=":
            self.warn("!=", Span(start, scan.at + 1))
        compare = self._optional_point()
        return Explode("!!" in name, "p" in name, "o" in name, cap, compare, scan.since(start))

    def _selected(self) -> Node:
        """`selected := factor?`: absent it is 1."""
        if self._factor_next():
            return self.factor("keep or drop", "a number")
        at = self.scan.ended()
        self.count_node(Span(at, at))
        return Number(1, Span(at, at))

    def _count(self, failure: bool, start: int) -> Count:  # noqa: FBT001  the two kinds of one modifier
        """`count := "f"? compare (":" whole)?`: the weight is 1..9; success needs its operator."""
        scan = self.scan
        compare = self._compare_point()
        weight = 1
        if scan.peek() == ":":
            scan.take(":")
            at = scan.at
            weight = scan.whole(":")
            if not 1 <= weight <= MAX_WEIGHT:
                raise beyond("weight", MAX_WEIGHT, str(weight), scan.since(at), minimum=1)
        return Count(failure, compare, weight, scan.since(start))

    def _optional_point(self) -> Compare | None:
        """`optional_point := compare_point?`."""
        if self._factor_next() or (self.scan.peek() and self.scan.peek() in "<>="):
            return self._compare_point()
        return None

    def _compare_point(self) -> Compare:
        """`compare_point := ("=" | "<>" | ">" | "<" | ">=" | "<=")? factor`: a bare factor means equals."""
        scan = self.scan
        start = scan.at
        operator = scan.compare()
        if operator in ("<", ">"):
            self.warn(operator, scan.since(start))
        if not operator and not self._factor_next():
            raise scan.unexpected("f", "a compare point such as 1 or <=2")
        value = self._without_dice(self.factor(operator or "a modifier", "a number", "a variable", "("))
        return Compare(operator or "=", value, scan.since(start))

    def _factor_next(self) -> bool:
        sign = self.scan.peek()
        return sign in ("@", "(") or (sign.isdigit() and sign.isascii())

    def _without_dice(self, node: Node) -> Node:
        if has_dice(node):
            raise refuse("DICE_IN_COMPARE", "a compare point, a cap or a clamp holds no dice", node.span)
        return node

    def _fits(self, modifier: Modifier, source: Dice | Group | Modified, before: list[Modifier]) -> None:
        """Refuse a modifier that its pool, or one before it, does not allow."""
        group = _bare(source)
        if isinstance(group, Group):
            if not isinstance(modifier, _OF_GROUPS):
                raise refuse(
                    "MODIFIER_MISPLACED",
                    "a group takes keep, drop, success and sort",
                    modifier.span,
                    expected=("keep", "drop", "success", "sort"),
                    hint="write the modifier after the dice inside the group",
                )
            if len(group.elements) == 1 and not isinstance(modifier, Sort):
                raise refuse(
                    "GROUP_OF_ONE",
                    "a group of one has nothing to choose from",
                    modifier.span,
                    hint="to choose among the dice of a pool write (4d6)kh3",
                )
        if isinstance(modifier, Keep) and any(isinstance(each, Keep) for each in before):
            raise refuse("TWO_KEEPS", "a pool is kept once", modifier.span, hint="to keep again write (4d6kh3)kl1")
        if isinstance(modifier, Count):
            successes = [each for each in before if isinstance(each, Count) and not each.failure]
            if modifier.failure and not successes:
                raise refuse(
                    "FAILURE_WITHOUT_SUCCESS",
                    "failures are counted only after a success",
                    modifier.span,
                    hint="write the success first: 10d10>=8f1",
                )
        if not isinstance(modifier, (Mark, Sort)) and _counts(source):
            raise refuse("COUNTED_ALREADY", "the dice in the parentheses are counted already", modifier.span)


def _phase(found: tuple[int, Modifier]) -> int:
    return found[0]


def _bare(source: Dice | Group | Modified) -> Dice | Group:
    while isinstance(source, Modified):
        source = source.source
    return source


def _counts(source: Dice | Group | Modified) -> bool:
    while isinstance(source, Modified):
        if any(isinstance(modifier, Count) for modifier in source.modifiers):
            return True
        source = source.source
    return False


_CODES = {
    "r": "REROLL_UNTIL",
    "d": "DROP_LOWEST",
    "k": "KEEP_HIGHEST",
    "cs": "MARK_ONLY",
    "cf": "MARK_ONLY",
    "d%": "PERCENTILE",
    "!=": "EXPLODE_EQUALS",
    ">": "STRICT_COMPARISON",
    "<": "STRICT_COMPARISON",
    "d1": "ONE_SIDED_DIE",
}
