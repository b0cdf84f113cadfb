"""A source of faces that were given: worked examples, explanations, tests. Nothing is rolled."""

from __future__ import annotations

from collections.abc import Iterable

from fairroll_rules.errors import AnswerError


class GivenFaces:
    """Hands out the given faces one by one, in order; a `Source`.

    Call `finish` after the roll, so that no given face goes unused in silence.
    """

    def __init__(self, faces: Iterable[int]) -> None:
        self._faces = tuple(faces)
        self._used = 0

    @property
    def left(self) -> tuple[int, ...]:
        """The faces that nobody asked for yet."""
        return self._faces[self._used :]

    def __call__(self, sides: int) -> int:
        """Return the next face for a die with `sides` sides.

        Raises:
            AnswerError: FACES_MISSING, all given faces are used up; FACE_OUT_OF_RANGE, the next one is not 1..sides.
        """
        if self._used == len(self._faces):
            raise AnswerError(
                "FACES_MISSING",
                f"the roll asks for more than the {self._used} faces given: next is a d{sides}",
                field=f"faces[{self._used}]",
                value=str(self._used),
            )
        face = self._faces[self._used]
        if not 1 <= face <= sides:
            raise AnswerError(
                "FACE_OUT_OF_RANGE",
                f"face {self._used + 1} of those given must be 1..{sides}, not {face}",
                field=f"faces[{self._used}]",
                minimum=1,
                maximum=sides,
                value=str(face),
            )
        self._used += 1
        return face

    def finish(self) -> None:
        """Refuse faces that were given and not asked for.

        Raises:
            AnswerError: FACES_LEFT; `maximum` is how many the roll took, `value` how many were given.
        """
        if self.left:
            raise AnswerError(
                "FACES_LEFT",
                f"the roll took {self._used} of {len(self._faces)} faces given",
                field=f"faces[{self._used}]",
                maximum=self._used,
                value=str(len(self._faces)),
            )
