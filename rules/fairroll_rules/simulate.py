"""A source of random faces for simulations and benchmarks; no proof, so never for a roll that counts."""

from __future__ import annotations

from collections.abc import Callable

from fairroll_rules.dice import Source


def random_faces(randbelow: Callable[[int], int]) -> Source:
    """Return a source whose chance is `randbelow(n) -> 0..n-1`, such as `random.Random(7).randrange`.

    Where chance comes from is an argument: the rules have none of their own.
    """

    def face(sides: int) -> int:
        return randbelow(sides) + 1

    return face
