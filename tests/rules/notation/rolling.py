"""Rolls for tests: a text on given faces, and what became of each die."""

from fairroll_rules.given import GivenFaces
from fairroll_rules.outcome import Fate
from fairroll_rules.resolve import Resolved, resolve
from fairroll_rules.systems.notation import NotationCheck, NotationOutcome, Variable


def check(text: str, **variables: int) -> NotationCheck:
    return NotationCheck(text, variables=tuple(Variable(name, value) for name, value in variables.items()))


def resolved(text: str, faces: list[int], **variables: int) -> Resolved:
    """Resolve on exactly these faces."""
    given = GivenFaces(faces)
    result = resolve(check(text, **variables), given)
    given.finish()
    return result


def outcome(text: str, faces: list[int], **variables: int) -> NotationOutcome:
    result = resolved(text, faces, **variables).outcome
    assert isinstance(result, NotationOutcome)
    return result


def total(text: str, faces: list[int], **variables: int) -> int | None:
    return outcome(text, faces, **variables).total


def dice(text: str, faces: list[int]) -> list[tuple[int, str]]:
    """Each die in draw order as its value and the initials of its fates: `K` kept, `EK` exploded and kept."""
    thrown = outcome(text, faces).dice
    assert [die.draw for die in thrown] == list(range(len(faces)))
    return [(die.value, "".join(INITIAL[fate] for fate in die.fates)) for die in thrown]


INITIAL = {
    Fate.KEPT: "K",
    Fate.DROPPED: "D",
    Fate.REROLLED: "R",
    Fate.EXPLODED: "E",
    Fate.CLAMPED: "C",
    Fate.SUCCESS: "S",
    Fate.FAILURE: "F",
    Fate.CRITICAL: "*",
    Fate.FUMBLE: "v",
    Fate.ADDED: "A",
}
