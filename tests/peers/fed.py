"""Dice that fall as they fell in an original, whichever of the two draws in which order."""

from typing import Any

from fairroll_rules.dice import DrawnDice, Face, Purpose


class FedDice(DrawnDice):
    """Answers first rolls in order, and a die that is rolled again with what followed the same die there.

    `theirs` are the original's draws: sides, face, the draw that each follows, and why.
    """

    def __init__(self, theirs: list[dict[str, Any]]) -> None:
        super().__init__(self._next)
        self.theirs = theirs
        self.first = [index for index, draw in enumerate(theirs) if draw["of"] is None]
        self.unused = set(range(len(theirs)))
        self.pairs: dict[int, int] = {}
        self.following: int | None = None

    def _next(self, sides: int) -> int:
        index = self.first.pop(0) if self.following is None else self.following
        self.following = None
        draw = self.theirs[index]
        assert draw["sides"] == sides
        self.pairs[len(self.log)] = index
        self.unused.remove(index)
        return int(draw["face"])

    def again(self, face: Face, purpose: Purpose) -> Face:
        own = self.pairs[face.draw]
        left = [index for index in sorted(self.unused) if self.theirs[index]["why"] == purpose.name]
        same = [index for index in left if self.theirs[index]["of"] == own]
        # Of equal dice the original may have taken another one.
        equal = [index for index in left if self._equal(self.theirs[index]["of"], own)]
        assert same or equal, f"the original does not {purpose.name} that die"
        self.following = (same or equal)[0]
        self._exchange(own, self.theirs[self.following]["of"])
        return super().again(face, purpose)

    def _equal(self, one: int | None, other: int) -> bool:
        names = ("sides", "face")
        return one is not None and all(self.theirs[one][name] == self.theirs[other][name] for name in names)

    def _exchange(self, one: int, other: int) -> None:
        swap = {one: other, other: one}
        self.pairs = {draw: swap.get(index, index) for draw, index in self.pairs.items()}
