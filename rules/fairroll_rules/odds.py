"""The answerer that gives every face at once: exact odds from the same rule code that rolls.

The rule is run once per path, depth first: each run repeats the choices of the path so far and takes the next one
where they end. A pool is one choice among multisets, weighted by how many orders each stands for. A part is one
choice among its values, found once per function and arguments. Steps side by side with a `merge` are folded
pairwise. What the table sees (details, names) is None here: no rule reads it.

A face may leave its part in a value and be rolled again elsewhere. Its chain then counts from there on, perhaps
together with another die's: a chain may end sooner than the cut asks, which shows in what is lost and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import Any, Generic, TypeVar, cast

from fairroll_rules.decisions import About, Decisions, Question, decision_open
from fairroll_rules.dice import Dice, Face, Part, Purpose
from fairroll_rules.errors import LimitReached
from fairroll_rules.limits import MAX_AGAIN, MAX_ODDS_WORK
from fairroll_rules.spread import Spread, common, exact, fold, known_multisets, multisets, square

V = TypeVar("V")
W = TypeVar("W")
D = TypeVar("D")

CUT = Fraction(1, 10**15)
"""A chain of one die rolled again and again is followed down to this weight."""

_SMALL_POOL = 2_000
"""Multisets of a pool that is worth remembering."""

_PAIRS = 16
"""Pairs merged for the price of one path: a path runs the rule, a pair costs one call of `merge`."""

_REPEATED = 8
"""Choices repeated for the price of one path: dice rolled again and again make paths of a hundred."""


@dataclass(frozen=True, slots=True)
class Odds(Generic[V]):
    """The exact chance of every value, and what was lost to cut chains: together exactly 1; `work` is what it took."""

    weights: Mapping[V, Fraction]
    lost: Fraction
    work: int = field(default=0, compare=False)

    def map(self, function: Callable[[V], W]) -> Odds[W]:
        """Return the odds of `function(value)`, such as one named quantity of the value."""
        weights: dict[W, Fraction] = {}
        for value, weight in self.weights.items():
            mapped = function(value)
            weights[mapped] = weights.get(mapped, Fraction(0)) + weight
        return Odds(weights, self.lost, self.work)

    def mean(self, function: Callable[[V], int]) -> Fraction:
        """Return the mean of `function(value)` over all that was not lost."""
        total = sum([function(value) * weight for value, weight in self.weights.items()], Fraction(0))
        return total / (1 - self.lost)


def distribution(function: Part[V, D], *args: object, cut: Fraction = CUT, budget: int = MAX_ODDS_WORK) -> Odds[V]:
    """Return the odds of `function(dice, decisions, *args) -> (value, detail)`; arguments and values are hashable.

    Paths that end in a limit of the rules (a die rolled again too often) count as lost, as do chains below `cut`.

    Raises:
        AnswerError: DECISION_OPEN, a policy is ASK, which has no odds.
        LimitReached: `odds_work`, the work would exceed `budget`, in paths and the choices on them; a long path counts
            for more.
        RuleError: whatever else the rule raises on some path.
    """
    work = _Work(cut, budget)
    spread = work.part(function, args)
    weights = {value: Fraction(weight, spread.total) for value, weight in spread.weights.items()}
    return Odds(weights, Fraction(spread.lost, spread.total), work.spent)


class _ChainCut(Exception):
    """Ends a path whose chain weighs less than the cut; no caller sees it."""


class _Presets(Decisions):
    """Policies answer every question."""

    def ask(self, *questions: Question, about: About | None = None) -> tuple[str, ...]:  # noqa: ARG002  nobody reads it
        return tuple([_preset(question) for question in questions])


def _preset(question: Question) -> str:
    if question.preset is None:
        raise decision_open(question)
    return question.preset


class _Work:
    """One call of `distribution`: its budget, and the parts that it knows already.

    What it knows is bounded by the budget, since every entry was paid for, and is gone when the call ends.
    """

    def __init__(self, cut: Fraction, budget: int) -> None:
        self._cut = cut
        self._budget = budget
        self._left = budget
        self._known: dict[Hashable, Spread[Any]] = {}
        self._most_again: dict[int, int] = {}

    def spend(self, amount: int) -> None:
        """Use up some of the budget."""
        self.afford(amount)
        self._left -= amount

    @property
    def spent(self) -> int:
        """How much was used up."""
        return self._budget - self._left

    def afford(self, amount: int) -> None:
        """Refuse at once what the budget cannot cover."""
        if amount > self._left:
            raise LimitReached(
                "LIMIT_REACHED", "exact odds would take too much work", limit="odds_work", maximum=self._budget
            )

    def most_again(self, sides: int) -> int:
        """Return how often a die may be rolled again before the weight of its chain falls below the cut."""
        if sides not in self._most_again:
            times = 0
            while times < MAX_AGAIN and self._cut * sides ** (times + 1) <= 1:
                times += 1
            self._most_again[sides] = times
        return self._most_again[sides]

    def part(self, function: Part[V, D], args: tuple[object, ...]) -> Spread[V]:
        """Return the odds of a part, found once."""
        key = (function, exact(args))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _Paths(self, function, args).spread()
        return known

    def merged(self, function: Part[V, D], args: Sequence[tuple[object, ...]], merge: Callable[[V, V], V]) -> Spread[V]:
        """Return the odds of parts folded by `merge`: equal arguments by squaring, then those that differ."""
        alike: dict[Hashable, list[tuple[object, ...]]] = {}
        for each in args:
            alike.setdefault(exact(each), []).append(each)
        if not alike:
            raise ValueError("nothing to merge: parts takes at least one tuple of arguments")
        first, *others = [self._times(function, group[0], merge, len(group)) for group in alike.values()]
        for other in others:
            first = self._fold(first, other, merge)
        return first

    def _times(
        self, function: Part[V, D], args: tuple[object, ...], merge: Callable[[V, V], V], count: int
    ) -> Spread[V]:
        if count == 1:
            return self.part(function, args)
        key = (function, exact(args), merge, count)
        known = self._known.get(key)
        if known is None:
            half = self._times(function, args, merge, count // 2)
            self.spend(len(half.weights) ** 2 // (2 * _PAIRS) + 1)
            known = square(half, merge)
            if count % 2:
                known = self._fold(known, self.part(function, args), merge)
            self._known[key] = known
        return known

    def _fold(self, left: Spread[V], right: Spread[V], merge: Callable[[V, V], V]) -> Spread[V]:
        self.spend(len(left.weights) * len(right.weights) // _PAIRS + 1)
        return fold(left, right, merge)


class _Choice:
    """A place on the path where the rule was answered: what it asked, the answer taken, and those to come."""

    __slots__ = ("_before", "_rest", "answer", "asked", "drawn", "total", "weight")

    def __init__(self, asked: object, before: int, total: int, drawn: int, rest: Iterator[tuple[Any, int]]) -> None:
        self._before = before
        self._rest = rest
        self.asked = asked
        self.total = total
        self.drawn = drawn
        self.answer: Any = None
        self.weight = 0

    def next(self) -> bool:
        """Take the next answer and weigh the path up to here with it, over `total`; False where none is left."""
        following = next(self._rest, None)
        if following is None:
            return False
        self.answer, ways = following
        self.weight = self._before * ways
        return True


class _Paths(Dice):
    """Dice that walk every path of one function."""

    def __init__(self, work: _Work, function: Part[Any, Any], args: tuple[object, ...]) -> None:
        self._work = work
        self._function = function
        self._args = args
        self._path: list[_Choice] = []
        self._at = 0
        self._first: dict[int, int] = {}
        self._times_again: dict[int, int] = {}
        self._lost: dict[int, int] = {}

    def spread(self) -> Spread[Any]:
        """Run the function once per path and return the odds of its values."""
        function, args, path, presets = self._function, self._args, self._path, _Presets()
        weights: dict[int, dict[Any, int]] = {}
        while True:
            self._work.spend(1)
            self._start()
            try:
                value, _ = function(self, presets, *args)
            except _ChainCut:
                self._lose(*self._weight())
            except LimitReached as reached:
                if reached.limit == "odds_work":
                    raise
                self._lose(*self._weight())
            else:
                weight, total = self._weight()
                counted = weights.setdefault(total, {})
                counted[value] = counted.get(value, 0) + weight
            if self._at < len(path):
                raise self._unrepeatable()
            self._work.spend(self._at // _REPEATED)
            while path and not path[-1].next():
                path.pop()
            if not path:
                return common(weights, self._lost)

    def roll(self, sides: int) -> Face:
        self._at += 1
        if self._at <= len(self._path):
            return cast("Face", self._repeat(sides))
        self._work.afford(sides)
        drawn = self._drawn()
        faces = ((Face(number, sides, drawn), 1) for number in range(1, sides + 1))
        return cast("Face", self._choose(sides, sides, drawn + 1, faces))

    def pool(self, count: int, sides: int) -> tuple[Face, ...]:
        self._at += 1
        if self._at <= len(self._path):
            return cast("tuple[Face, ...]", self._repeat((count, sides)))
        ways = comb(sides + count - 1, count)
        self._work.afford(ways)
        drawn = self._drawn()
        faces = (known_multisets if ways <= _SMALL_POOL else multisets)(count, sides, drawn)
        return cast("tuple[Face, ...]", self._choose((count, sides), sides**count, drawn + count, iter(faces)))

    def again(self, face: Face, purpose: Purpose) -> Face:  # noqa: ARG002  odds do not say why
        first = self._first.get(face.draw, face.draw)
        times = self._times_again.get(first, 0) + 1
        if times > self._work.most_again(face.sides):
            raise _ChainCut
        following = self.roll(face.sides)
        self._first[following.draw] = first
        self._times_again[first] = times
        return following

    def part(self, function: Part[V, D], *args: object, actor: str = "") -> tuple[V, D]:  # noqa: ARG002  nor who
        self._at += 1
        if self._at <= len(self._path):
            value = self._repeat(function)
        else:
            value = self._choose_value(function, self._work.part(function, args))
        return value, cast("D", None)

    def parts(  # type: ignore[override]  # the two overloads of the door, answered by one body
        self,
        function: Part[V, D],
        args: Sequence[tuple[object, ...]],
        actors: Sequence[str] = (),
        merge: Callable[[V, V], V] | None = None,
    ) -> tuple[tuple[V, ...] | V, tuple[D, ...]]:
        if actors and len(actors) != len(args):
            raise ValueError(f"{len(actors)} actors for {len(args)} steps")
        details = cast("tuple[D, ...]", (None,) * len(args))
        if merge is None:
            return tuple([self.part(function, *each)[0] for each in args]), details
        self._at += 1
        if self._at <= len(self._path):
            return self._repeat(merge), details
        return self._choose_value(merge, self._work.merged(function, args, merge)), details

    def _start(self) -> None:
        self._at = 0
        if self._times_again:
            self._first.clear()
            self._times_again.clear()

    def _repeat(self, asked: object) -> Any:  # noqa: ANN401  a face, a pool or any value
        choice = self._path[self._at - 1]
        if choice.asked != asked:
            raise self._unrepeatable()
        return choice.answer

    def _choose(self, asked: object, ways: int, drawn: int, rest: Iterator[tuple[Any, int]]) -> Any:  # noqa: ANN401  as above
        self._work.spend(1)
        weight, total = self._weight()
        choice = _Choice(asked, weight, total * ways, drawn, rest)
        if not choice.next():
            raise ValueError(f"no face to choose from: {asked!r}")
        self._path.append(choice)
        return choice.answer

    def _choose_value(self, asked: object, spread: Spread[V]) -> V:
        if not spread.weights:
            raise _ChainCut
        weight, total = self._weight()
        if spread.lost:
            self._lose(weight * spread.lost, total * spread.total)
        return cast("V", self._choose(asked, spread.total, self._drawn(), iter(spread.weights.items())))

    def _weight(self) -> tuple[int, int]:
        """Return the weight of the path so far, and out of what total."""
        return (self._path[-1].weight, self._path[-1].total) if self._path else (1, 1)

    def _drawn(self) -> int:
        return self._path[-1].drawn if self._path else 0

    def _lose(self, weight: int, total: int) -> None:
        self._lost[total] = self._lost.get(total, 0) + weight

    def _unrepeatable(self) -> RuntimeError:
        return RuntimeError(
            f"{self._function.__name__} asks differently on the same faces: it keeps state between runs"
        )
