"""What is known of a pool before it is rolled: how many dice, which values, and what its modifiers make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Protocol

from fairroll_rules.limits import MAX_AGAIN
from fairroll_rules.notation.exact import tester
from fairroll_rules.notation.faults import NOT_WHOLE, beyond, refuse
from fairroll_rules.notation.selection import Tallying, TallyPhases
from fairroll_rules.notation.tree import (
    Among,
    Clamp,
    Compare,
    Count,
    Drop,
    Exact,
    Explode,
    Keep,
    Mark,
    Match,
    Modifier,
    Node,
    Rank,
    Reroll,
    Sieve,
    Sort,
    Tally,
    Unique,
)

Point = tuple[str, Exact]
"""Operator and value of a compare point."""

Ends = tuple[Exact, Exact]
"""The least and the greatest of some values."""


class Looker(Protocol):
    """What the rest of the analysis offers to the pools."""

    def fixed(self, node: Node) -> Exact: ...
    def count(self, node: Node, what: str) -> tuple[int, int]: ...
    def worked(self, dice: int) -> None: ...
    def grown(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Faced:
    """The natural faces of a die: named ones, or 1..n with n between `least` and `most`."""

    named: tuple[int, ...]
    least: int
    most: int

    def ends(self) -> tuple[int, int]:
        """Return the lowest face and the highest that can be."""
        return (min(self.named), max(self.named)) if self.named else (1, self.most)

    def distinct(self) -> int:
        """Return how many different faces there are at least."""
        return len(frozenset(self.named)) or self.least

    def default(self, *, highest: bool) -> Point:
        """Return the compare point of a modifier that has none: the highest or the lowest face."""
        low, high = self.ends()
        return "=", high if highest else low

    def some(self, points: Sequence[Point], *, matching: bool, sides: int) -> Ends | None:
        """Return the ends of the faces for which any (or, not `matching`, none) of the points holds."""
        if self.named:
            candidates = self.named
        else:
            # What holds changes only next to a point: the ends and the neighbours of the points show all.
            near = [each for _, point in points for each in range(floor(point) - 1, ceil(point) + 2)]
            candidates = tuple([each for each in (1, sides, *near) if 1 <= each <= sides])
        tests = [tester(name, point) for name, point in points]
        found = [face for face in candidates if any(test(face) for test in tests) == matching]
        return (min(found), max(found)) if found else None

    def rising(self, *, down: bool) -> Iterator[int]:
        """Yield each face once, from the lowest up, or from the highest `down`."""
        yield from sorted(set(self.named), reverse=down) or (
            range(self.most, 0, -1) if down else range(1, self.most + 1)
        )


@dataclass(frozen=True, slots=True)
class Pile:
    """Dice, or totals of a group: `least`..`most` of them, each worth `low`..`high`.

    `chains` are the first dice with what their explosions add, each `chain_low`..`chain_high`, while no selection has
    torn them apart. `ranked` has the bounds of the totals of a group, both sorted. `counted` is what counting made.
    `natural` dice are worth what they show.
    """

    least: int
    most: int
    low: Exact
    high: Exact
    faced: Faced | None
    whole: bool = True
    pristine: bool = True
    natural: bool = True
    chains: tuple[int, int] | None = None
    chain_low: Exact = 0
    chain_high: Exact = 0
    ranked: tuple[tuple[Exact, ...], tuple[Exact, ...]] | None = None
    counted: Ends | None = None

    def total(self) -> tuple[Exact, Exact, bool]:
        """Return the ends of the total, and whether it is always whole."""
        if self.counted is not None:
            return *self.counted, True
        if self.ranked is not None:
            return sum(self.ranked[0]), sum(self.ranked[1]), self.whole
        if self.chains is not None:
            return *_times(self.chains, self.chain_low, self.chain_high), self.whole
        return *_times((self.least, self.most), self.low, self.high), self.whole


def group_pile(elements: Sequence[tuple[Exact, Exact, bool]]) -> Pile:
    """Return the pile of a group's totals."""
    lows = tuple(sorted([low for low, _, _ in elements]))
    highs = tuple(sorted([high for _, high, _ in elements]))
    whole = all(each for _, _, each in elements)
    return Pile(len(elements), len(elements), lows[0], highs[-1], None, whole, ranked=(lows, highs))


def modify(looker: Looker, pile: Pile, modifiers: tuple[Modifier, ...]) -> Pile:
    """Return the pile after its modifiers, or refuse what they make impossible."""
    counts: list[Count] = []
    tallies: list[Tally] = []
    until: list[Point] = []
    for modifier in modifiers:
        looker.worked(pile.most)
        if not (isinstance(modifier, Reroll) and not modifier.once):
            until = []
        match modifier:
            case Reroll():
                pile = _reroll(looker, pile, modifier, until)
            case Explode():
                pile = _explode(looker, pile, modifier)
            case Unique():
                pile = _unique(looker, pile, modifier)
            case Clamp():
                pile = _clamp(looker, pile, modifier)
            case Keep() | Drop():
                pile = _select(looker, pile, modifier)
            case Among():
                pile = _among(looker, pile, modifier)
            case Sieve():
                pile = _sieve(looker, pile, modifier)
            case Tally():
                tallies.append(modifier)
            case Match():
                pile = _match(looker, pile, modifier)
            case Count():
                counts.append(modifier)
            case Mark(compare=compare):
                _point(looker, compare)
            case Sort():
                pass
    if tallies:
        return _tally(looker, pile, tallies)
    return _count(looker, pile, counts) if counts else pile


def _faced(pile: Pile) -> Faced:
    if pile.faced is None:
        raise AssertionError("the parser lets no modifier of faces follow a group")
    return pile.faced


def _point(looker: Looker, compare: Compare | None) -> Point | None:
    return None if compare is None else (compare.operator, looker.fixed(compare.value))


def _reroll(looker: Looker, pile: Pile, modifier: Reroll, until: list[Point]) -> Pile:
    faced = _faced(pile)
    until.append(_point(looker, modifier.compare) or faced.default(highest=False))
    _ends_some_time(faced, until, modifier, "reroll", highest=False)
    ends: Ends = faced.ends()
    if modifier.once:
        until.clear()
    else:
        ends = faced.some(until, matching=False, sides=faced.most) or ends
    if pile.pristine or (pile.natural and not modifier.once):
        return replace(pile, low=ends[0], high=ends[1], chains=None)
    return _widened(pile, ends)


def _widened(pile: Pile, ends: Ends) -> Pile:
    """Return the pile in which each die may also be worth what was just rolled."""
    return replace(pile, low=min(ends[0], pile.low), high=max(ends[1], pile.high), chains=None)


def _explode(looker: Looker, pile: Pile, modifier: Explode) -> Pile:
    looker.grown()
    faced = _faced(pile)
    point = _point(looker, modifier.compare)
    _ends_some_time(faced, [point or faced.default(highest=True)], modifier, "explosion", highest=point is None)
    cap = MAX_AGAIN
    if modifier.cap is not None:
        _, cap = looker.count(modifier.cap, "the cap of extra rolls")
        if cap > MAX_AGAIN:
            raise beyond("again_per_die", MAX_AGAIN, str(cap), modifier.cap.span)
    capped = modifier.once or modifier.cap is not None
    cap = min(cap, 1) if modifier.once else cap
    bursting, resting = _bursting(faced, point)
    if bursting is None or cap == 0:
        return pile
    if modifier.valued and pile.chains is None:
        first = point or faced.default(highest=True)
        if _among_values(pile, [first], matching=True) is None:
            return pile
        chain = _clamped_chain(pile, first, bursting, resting, cap, less=modifier.penetrate)
    else:
        chain = _chain_ends(pile, bursting, resting, cap, capped=capped, less=modifier.penetrate)
    if modifier.compound:
        return replace(pile, low=chain[0], high=chain[1], pristine=False, natural=False, chains=None)
    low, high = faced.ends()
    return replace(
        _widened(pile, (low - modifier.penetrate, high)),
        most=pile.most * (1 + cap),
        pristine=False,
        natural=pile.natural and not modifier.penetrate,
        chains=(pile.least, pile.most),
        chain_low=chain[0],
        chain_high=chain[1],
    )


def _bursting(faced: Faced, point: Point | None) -> tuple[Ends | None, Ends]:
    """Return the ends of the faces that explode, and of those that do not."""
    if point is None and not faced.named:
        # The highest face of a die whose sides vary is any of them.
        return (faced.least, faced.most), (1, faced.most - 1)
    points = [point or faced.default(highest=True)]
    resting = faced.some(points, matching=False, sides=faced.most)
    return faced.some(points, matching=True, sides=faced.most), resting or faced.ends()


def _chain_ends(pile: Pile, bursting: Ends, resting: Ends, cap: int, *, capped: bool, less: bool) -> Ends:
    """Return the ends of a die and what it explodes into: linear in the number of extra rolls, so look at its ends."""
    if pile.chains is not None or not pile.pristine:
        low, high = _faced(pile).ends()
        return pile.low + min(0, cap * (low - less)), pile.high + max(0, cap * (high - less))
    last = (min(bursting[0], resting[0]), max(bursting[1], resting[1])) if capped else resting
    # Rerolls before the explosion narrow the first face; what it is then worth is the pile's.
    lows, highs = [max(resting[0], pile.low)], [min(resting[1], pile.high)]
    for extra in sorted({1, max(1, cap - 1), cap}):
        end = last if extra == cap else resting
        lows.append(extra * (bursting[0] - less) + end[0])
        highs.append(extra * (bursting[1] - less) + end[1])
    return min(lows), max(highs)


def _among_values(pile: Pile, points: Sequence[Point], *, matching: bool) -> Ends | None:
    """Return the ends of the values of a die for which any (or, not `matching`, none) of the points holds."""
    low, high = ceil(pile.low), floor(pile.high)
    near = [each for _, point in points for each in range(floor(point) - 1, ceil(point) + 2)]
    tests = [tester(name, point) for name, point in points]
    values = [each for each in (low, high, *near) if low <= each <= high]
    found = [each for each in values if any(test(each) for test in tests) == matching]
    return (min(found), max(found)) if found else None


def _clamped_chain(pile: Pile, point: Point, bursting: Ends, resting: Ends, cap: int, *, less: bool) -> Ends:
    """Return the ends of a die whose clamped value explodes, and of what it explodes into, which is not clamped."""
    first = _among_values(pile, [point], matching=True)
    rest = _among_values(pile, [point], matching=False)
    lows, highs = ([rest[0]], [rest[1]]) if rest else ([], [])
    if first:
        lows += [first[0] + (extra - 1) * bursting[0] + resting[0] - extra * less for extra in (1, cap)]
        highs += [first[1] + (extra - 1) * bursting[1] + resting[1] - extra * less for extra in (1, cap)]
    return min(lows), max(highs)


def _ends_some_time(
    faced: Faced, points: list[Point], modifier: Explode | Reroll | Among, what: str, *, highest: bool
) -> None:
    """Refuse what holds on every face of the smallest die that is possible."""
    if highest and not faced.named:
        points = [("=", faced.least)]
    if faced.some(points, matching=False, sides=faced.least) is None:
        raise refuse(
            "NEVER_ENDS",
            f"the {what} would be true on every face",
            modifier.span,
            hint="leave at least one face on which it ends",
        )


def _unique(looker: Looker, pile: Pile, modifier: Unique) -> Pile:
    faced = _faced(pile)
    distinct = faced.distinct()
    point = _point(looker, modifier.compare)
    # Faces that the compare point leaves alone may be there twice.
    free = point is not None and faced.some([point], matching=False, sides=faced.least) is not None
    if not modifier.once and not free and pile.most > distinct:
        raise refuse(
            "UNIQUE_IMPOSSIBLE",
            f"{pile.most} dice cannot all differ on {distinct} faces",
            modifier.span,
            value=str(pile.most),
            hint="roll fewer dice, or cap their explosions",
        )
    widened = _widened(pile, faced.ends())
    clamped = modifier.valued and point is None
    if modifier.once or not (pile.natural or clamped):
        return widened
    of = faced if pile.natural else Faced(tuple(range(int(widened.low), int(widened.high) + 1)), 0, 0)
    bound = None if point is None else tester(*point)
    low = min(_of_different(of.rising(down=False), bound, pile.least, pile.most))
    high = max(_of_different(of.rising(down=True), bound, pile.least, pile.most))
    return replace(widened, chains=(1, 1), chain_low=low, chain_high=high)


def _of_different(faces: Iterator[int], bound: Callable[[Exact], bool] | None, least: int, most: int) -> Iterator[int]:
    """Yield sums of `least`..`most` dice that take faces in turn, one die for a face that is `bound`, else the rest."""
    total, taken = 0, 0
    if not least:
        yield 0
    for face in faces:
        dice = most - taken if bound is not None and not bound(face) else 1
        for more in {max(1, least - taken), dice}:
            if more <= dice and least <= taken + more <= most:
                yield total + more * face
        total, taken = total + dice * face, taken + dice
        if taken >= most:
            return


def _among(looker: Looker, pile: Pile, modifier: Among) -> Pile:
    faced = _faced(pile)
    points = [(each.operator, looker.fixed(each.value)) for each in modifier.points if isinstance(each, Compare)]
    ranks = [each for each in modifier.points if isinstance(each, Rank)]
    endless = modifier.again and modifier.most is None
    if points and endless:
        _ends_some_time(faced, points, modifier, "explosion" if modifier.explode else "reroll", highest=False)
    bursting = faced.some(points, matching=True, sides=faced.most)
    if not modifier.explode:
        return _rerolled_among(pile, faced, modifier.most) if bursting or not points or ranks else pile
    looker.grown()
    plain = pile.pristine and not ranks and bool(points)
    resting = faced.some(points, matching=False, sides=faced.most)
    if plain and bursting is None:
        return pile
    ends = faced.ends()
    extra = pile.most * (MAX_AGAIN if modifier.again else 1)
    if modifier.most is not None:
        extra = min(extra, modifier.most)
    low, high, whole = pile.total()
    # Whoever explodes brings one die at least.
    low, high = low + min(ends[0] if pile.least else 0, extra * ends[0]), high + max(0, extra * ends[1])
    if plain and bursting and resting and endless:
        low, high = _times(
            (pile.least, pile.most), *_chain_ends(pile, bursting, resting, MAX_AGAIN, capped=False, less=False)
        )
    elif plain and bursting:
        quiet = _times((pile.least, pile.most), *resting) if resting else (low, high)
        low, high = min(low + bursting[0] - pile.low, quiet[0]), max(high, quiet[1])
    elif not (ranks and not points):
        low = min(low, pile.total()[0])
    elif (
        endless and pile.pristine and not faced.named and [(each.highest, each.count) for each in ranks] == [(True, 1)]
    ):
        high = min(high, _rising(pile.most, faced.most))
    # So many dice more in all, whichever they come from.
    return replace(
        pile,
        most=pile.most + extra,
        low=min(pile.low, ends[0]),
        high=max(pile.high, ends[1]),
        pristine=False,
        chains=(1, 1),
        chain_low=low,
        chain_high=high,
        whole=whole,
    )


def _rerolled_among(pile: Pile, faced: Faced, most: int | None) -> Pile:
    """Return the pile in which so many dice at most, or any, may be worth what was just rolled."""
    widened = _widened(pile, faced.ends())
    low, high, _ = pile.total()
    if most is None or (widened.low, widened.high) == (pile.low, pile.high):
        return widened
    many = min(most, pile.most)
    ends = low + many * (widened.low - pile.low), high + many * (widened.high - pile.high)
    return replace(widened, chains=(1, 1), chain_low=ends[0], chain_high=ends[1])


def _rising(dice: int, sides: int) -> int:
    """Return the most that dice come to of which the highest explodes, and again each that is higher still."""
    # From all dice at one face up through every higher one; the sum has one top, at as many as there are dice.
    starts = {min(sides, max(1, each)) for each in (1, dice - 1, dice, sides)}
    return max([dice * each + (sides * (sides + 1) - each * (each + 1)) // 2 + sides for each in starts])


def _sieve(looker: Looker, pile: Pile, modifier: Sieve) -> Pile:
    """Return what can be left: ranks leave a number of dice, compare points leave dice of some values."""
    points = [(each.operator, looker.fixed(each.value)) for each in modifier.points if isinstance(each, Compare)]
    ranks = [each for each in modifier.points if isinstance(each, Rank)]
    least, most = _left(pile.least, ranks, keep=modifier.keep), _left(pile.most, ranks, keep=modifier.keep)
    if not points:
        return replace(pile, least=min(least, most), most=max(least, most), chains=None, ranked=None)
    if ranks:
        # What a rank keeps is kept, and what it drops is dropped, whatever the points choose besides.
        ends = (min(least, most), pile.most) if modifier.keep else (0, max(least, most))
        return replace(pile, least=ends[0], most=ends[1], chains=None, ranked=None)
    if pile.ranked is not None and pile.whole:
        return _sieve_totals(pile, pile.ranked, points, keep=modifier.keep)
    if pile.faced is None:
        return replace(pile, least=0, chains=None, ranked=None)
    fitting = _fitting(pile, points, matching=modifier.keep)
    if fitting is None:
        return replace(pile, least=0, most=0, chains=None, ranked=None)
    all_fit = _fitting(pile, points, matching=not modifier.keep) is None
    return replace(pile, least=pile.least if all_fit else 0, low=fitting[0], high=fitting[1], chains=None, ranked=None)


def _fitting(pile: Pile, points: Sequence[Point], *, matching: bool) -> Ends | None:
    """Return the ends of the values that fit: of the faces, or of what lies between the ends of other values."""
    if pile.pristine and pile.faced is not None and pile.natural:
        return pile.faced.some(points, matching=matching, sides=pile.faced.most)
    return _among_values(pile, points, matching=matching)


def _sieve_totals(
    pile: Pile, ranked: tuple[tuple[Exact, ...], tuple[Exact, ...]], points: Sequence[Point], *, keep: bool
) -> Pile:
    """Return what is left of a group whose totals fit or count for nothing."""
    low: Exact = 0
    high: Exact = 0
    for ends in zip(*ranked, strict=True):
        one = replace(pile, low=ends[0], high=ends[1])
        fitting = _among_values(one, points, matching=keep)
        never = _among_values(one, points, matching=not keep) is None
        kept = fitting or (0, 0)
        low += kept[0] if never else min(0, kept[0])
        high += kept[1] if never else max(0, kept[1])
    return replace(pile, least=0, chains=(1, 1), chain_low=low, chain_high=high, ranked=None)


def _left(among: int, ranks: Sequence[Rank], *, keep: bool) -> int:
    """Return how many of so many dice the ranks leave: places from either end, counted once where they overlap."""
    chosen: set[int] = set()
    for rank in ranks:
        count = min(rank.count, among)
        first = among - count if rank.highest else 0
        inside = set(range(first, first + count))
        chosen |= set(range(among)) - inside if rank.others else inside
    return len(chosen) if keep else among - len(chosen)


def _match(looker: Looker, pile: Pile, modifier: Match) -> Pile:
    point = _point(looker, modifier.compare)
    if not modifier.total:
        return pile
    faced = _faced(pile)
    fitting = (pile.low, pile.high) if point is None else faced.some([point], matching=True, sides=faced.most)
    values = 0 if fitting is None else int(fitting[1] - fitting[0]) + 1
    most = min(pile.most // modifier.count, values)
    # So many dice on so few values that some must match.
    every = point is None and pile.least > (modifier.count - 1) * values
    return replace(pile, counted=(int(every), most))


def _tally(looker: Looker, pile: Pile, tallies: list[Tally]) -> Pile:
    fixed = [(each.kind, _point(looker, each.compare)) for each in tallies]
    rules = [Tallying(kind, None if point is None else tester(*point)) for kind, point in fixed]
    phases = TallyPhases((), (), (), tuple(rules))
    near = [point + step for _, of in fixed if of is not None for point in (of[1],) for step in (-1, 0, 1)]

    def worths(low: Exact, high: Exact) -> tuple[Exact, Exact]:
        # What holds changes next to a point and between neighbours; in between a worth is linear.
        inside = [each for each in (low, low + 1, high - 1, high, *near) if low <= each <= high]
        found = [phases.tallied(each)[0] for each in inside]
        return min(found), max(found)

    if pile.ranked is not None:
        ends = [worths(low, high) for low, high in zip(*pile.ranked, strict=True)]
        return replace(pile, counted=(sum([low for low, _ in ends]), sum([high for _, high in ends])))
    return replace(pile, counted=_times((pile.least, pile.most), *worths(pile.low, pile.high)))


def _clamp(looker: Looker, pile: Pile, modifier: Clamp) -> Pile:
    limit = looker.fixed(modifier.limit)
    if limit.denominator != 1:
        raise refuse(NOT_WHOLE, "a clamp must be whole", modifier.limit.span, expected=("a whole number",))
    pick: Callable[[Exact, Exact], Exact] = max if modifier.side == "min" else min
    # Each die is now bounded on its own, whatever it exploded from.
    return replace(
        pile, low=pick(pile.low, limit), high=pick(pile.high, limit), pristine=False, natural=False, chains=None
    )


def _select(looker: Looker, pile: Pile, modifier: Keep | Drop) -> Pile:
    least, most = looker.count(modifier.count, "the number of dice to keep or drop")
    if isinstance(modifier, Drop):
        if modifier.bare and most >= pile.least:
            raise refuse(
                "DROPS_ALL",
                f"d{most} drops all of {pile.least} dice",
                modifier.span,
                hint="d after a pool drops the lowest; for more dice write + in between",
                value=str(most),
            )
        kept = max(0, pile.least - most), max(0, pile.most - least)
    else:
        kept = min(pile.least, least), min(pile.most, most)
    ranked = pile.ranked
    if ranked is not None and kept[0] == kept[1]:
        from_top = modifier.highest == isinstance(modifier, Keep)
        ranked = (_cut(ranked[0], kept[0], top=from_top), _cut(ranked[1], kept[0], top=from_top))
    else:
        ranked = None
    return replace(pile, least=kept[0], most=kept[1], chains=None, ranked=ranked)


def _cut(values: tuple[Exact, ...], count: int, *, top: bool) -> tuple[Exact, ...]:
    return values[len(values) - count :] if top else values[:count]


def _count(looker: Looker, pile: Pile, counts: list[Count]) -> Pile:
    points = [(count, looker.fixed(count.compare.value)) for count in counts]
    if pile.ranked is not None:
        worths = [_worth(points, low, high) for low, high in zip(*pile.ranked, strict=True)]
        return replace(pile, counted=(sum([low for low, _ in worths]), sum([high for _, high in worths])))
    return replace(pile, counted=_times((pile.least, pile.most), *_worth(points, pile.low, pile.high)))


def _worth(points: list[tuple[Count, Exact]], low: Exact, high: Exact) -> tuple[int, int]:
    """Return the least and the most that a value between the ends counts for, failures subtracted."""
    ends: dict[bool, tuple[int, int]] = {False: (0, 0), True: (0, 0)}
    for count, point in points:
        test = tester(count.compare.operator, point)
        # What holds changes only next to the point: the ends and its neighbours show all.
        near = [each for each in (point - 1, point, point + 1) if low <= each <= high]
        held = [test(each) for each in (low, high, *near)]
        least, most = ends[count.failure]
        ends[count.failure] = (
            max(least, count.weight if all(held) else 0),
            max(most, count.weight if any(held) else 0),
        )
    success, failure = ends[False], ends[True]
    if any(count.rest for count, _ in points) and success[1]:
        # A die that is a success may be no failure, however surely the failure holds.
        failure = (0, failure[1])
    return success[0] - failure[1], success[1] - failure[0]


def _times(count: tuple[int, int], low: Exact, high: Exact) -> Ends:
    """Return the ends of a sum of so many values."""
    return min(count[0] * low, count[1] * low), max(count[0] * high, count[1] * high)
