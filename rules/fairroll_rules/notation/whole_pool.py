"""Rerolls and explosions that look at a pool as a whole: its highest dice, or so many of it at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairroll_rules.dice import Dice, Purpose
from fairroll_rules.notation.growing import Item, rerolled
from fairroll_rules.notation.selection import Chooser, Ranking
from fairroll_rules.notation.tree import Exact
from fairroll_rules.outcome import Fate


@dataclass(frozen=True, slots=True)
class AmongStep:
    """Reroll or explode the dice that any chooser chooses, at most `most` in all; `again` looks at new dice, too.

    Choosers look at values, or at `natural` faces.
    """

    explode: bool
    again: bool
    choosers: tuple[Chooser, ...]
    most: int | None
    natural: bool

    def apply(self, dice: Dice, items: list[Item], named: tuple[int, ...]) -> list[Item]:
        """Return all dice, in the order in which they were drawn."""
        standing = [item for item in items if item.standing]
        done: list[Item] = []
        fallen = list(items)
        left = -1 if self.most is None else self.most
        while left:
            places = [place for place in self._chosen(standing) if standing[place] not in done][
                : left if left > 0 else None
            ]
            if not places:
                break
            for item in [standing[place] for place in places]:
                done.append(item)
                following = self._follow(dice, item, named, fallen)
                if self.explode:
                    standing.append(following)
                else:
                    standing[standing.index(item)] = following
            left -= len(places) if left > 0 else 0
            if not self.again:
                break
        return sorted(fallen, key=_drawn)

    def _chosen(self, standing: Sequence[Item]) -> list[int]:
        """Return the places of the dice that are chosen: what an earlier chooser chooses comes first."""
        values = [item.natural if self.natural else item.value for item in standing]
        places = [place for chooser in self.choosers for place in _first_of(chooser, values)]
        return list(dict.fromkeys(places))

    def _follow(self, dice: Dice, item: Item, named: tuple[int, ...], fallen: list[Item]) -> Item:
        if not self.explode:
            return rerolled(dice, fallen, item, named)
        item.fates += (Fate.EXPLODED,)
        following = Item(dice.again(item.face, Purpose.EXPLODE), named)
        fallen.append(following)
        return following


def _first_of(chooser: Chooser, values: Sequence[Exact]) -> list[int]:
    """Return the places that one chooser chooses, the highest or lowest first; of equal dice the earlier one."""
    places = range(len(values))
    if isinstance(chooser, Ranking):
        return sorted(places, key=values.__getitem__, reverse=chooser.highest)[: chooser.count]
    return [place for place in places if chooser(values[place])]


def _drawn(item: Item) -> int:
    return item.face.draw
