"""Parsing the modifiers of a pool or group; the other half of the parser."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import replace
from math import floor

from fairroll_rules.errors import CheckError, Span
from fairroll_rules.limits import MAX_POOL
from fairroll_rules.notation.dialects import COIN, TABLE, Reading, Trait, knowing, titles_of
from fairroll_rules.notation.exact import tester
from fairroll_rules.notation.faults import FOREIGN, SYNTAX, beyond, refuse
from fairroll_rules.notation.limits import MAX_MODIFIERS, MAX_WEIGHT
from fairroll_rules.notation.tokens import Scanner
from fairroll_rules.notation.tree import (
    Among,
    Chain,
    Clamp,
    Compare,
    Count,
    Dice,
    Drop,
    Exact,
    Explode,
    Faces,
    Group,
    Keep,
    Mark,
    Match,
    Modified,
    Modifier,
    Negate,
    Node,
    Number,
    Point,
    Rank,
    ReadingWarning,
    Reroll,
    Sieve,
    Sort,
    Tally,
    Unique,
    has_dice,
)

_CALL = re.compile(r"c[01](?![0-9.])")

_OF_GROUPS = (Keep, Drop, Sieve, Count, Tally, Sort)
_COUNTS = (Count, Tally, Match)

_Found = tuple[int, Modifier]
"""A modifier and its place in the order of application."""


class ModifierParser(ABC):
    """What parsing modifiers needs from the rest of the parser, and how they are parsed."""

    scan: Scanner
    reading: Reading
    warnings: list[ReadingWarning]
    margin: tuple[str, Node] | None = None
    """A margin of success that was just read: it is no modifier of the dice but a sum with their total."""

    def shown(self, kind: str, hint: str) -> str:
        """Return a hint with the dialect's own example of a kind of roll; the empty string where it has none."""
        example = self.reading.examples.get(kind)
        return f"{hint}{example}" if example else ""

    @abstractmethod
    def factor(self, after: str, *what: str) -> Node:
        """`factor := number | variable | "(" expression ")"`."""

    @abstractmethod
    def count_node(self, span: Span) -> None:
        """Count one node of the tree."""

    def has(self, trait: Trait) -> bool:
        """Tell whether the dialect has a trait."""
        return trait in self.reading.traits

    def warn(self, token: str, span: Span) -> None:
        """Note what another dialect would read, where the dialect's table has it."""
        warning = self.reading.warnings.get(token)
        if warning is not None:
            self.warnings.append(ReadingWarning(*warning, span))

    def lacking(self, token: str, span: Span, hint: str = "") -> CheckError:
        """Return the error for a token that this dialect does not know and others do."""
        known = knowing(token)
        titles = [dialect for dialect in TABLE if dialect.name in known]
        return refuse(
            FOREIGN,
            f"{self.reading.title} has no `{token}`; {titles_of(titles)} {'has' if len(titles) == 1 else 'have'} it",
            span,
            expected=known,
            hint=hint,
            value=token,
        )

    def modifiers(self, source: Dice | Group | Modified, start: int) -> Dice | Group | Modified:
        """`modifiers := modifier{0,12}`: sorted by phase; those of one phase stay as written."""
        scan = self.scan
        found: list[_Found] = []
        while True:
            at = scan.at
            name = "" if scan.peek() in "<>=" else self._named(source)
            if not name and not (scan.peek() and scan.peek() in "<>=" and "=" in self.reading.compares):
                break
            for phase, read in self._modifier(name, at, source):
                modifier = read
                if isinstance(read, Tally):
                    modifier = self._deducting(read, [each for _, each in found], source)
                self.count_node(modifier.span)
                found.append((phase, modifier))
                if len(found) > MAX_MODIFIERS:
                    raise beyond("modifiers", MAX_MODIFIERS, str(len(found)), modifier.span)
                self._fits(modifier, source, [each for _, each in found[:-1]])
        if not found:
            return source
        if self.has(Trait.LAST_WINS):
            found = _last_of_each(found)
        if self.has(Trait.SUCCESS_FIRST):
            found = _successes_first(found)
        levels = self._levels(found) if self.has(Trait.IN_ORDER) else [found]
        span = scan.since(start)
        for level in levels:
            level.sort(key=_phase)
            modifiers = [modifier for _, modifier in level]
            if self.has(Trait.WHOLE_POOL):
                modifiers = _whole_pool(modifiers)
            if self.has(Trait.BY_VALUE):
                modifiers = _by_value(modifiers, source)
            elif _clamped(source):
                modifiers = [replace(each, natural=True) if isinstance(each, Among) else each for each in modifiers]
            self.count_node(span)
            source = Modified(source, tuple(modifiers), span)
        return source

    def _levels(self, found: list[_Found]) -> list[list[_Found]]:
        """Split modifiers that are applied as written where a later one would be applied before an earlier one."""
        levels: list[list[_Found]] = [[]]
        for phase, modifier in found:
            before = levels[-1]
            if before and (
                isinstance(modifier, Among)
                or isinstance(before[-1][1], Among)
                or (not phase and any(other for other, _ in before))
            ):
                before = []
                levels.append(before)
            before.append((phase, modifier))
        counted = False
        for level in levels:
            for phase, modifier in level if counted else ():
                if not phase:
                    raise refuse(
                        "COUNTED_ALREADY",
                        "the dice are counted already",
                        modifier.span,
                        hint="write what counts behind everything else",
                    )
            counted = counted or any(isinstance(modifier, _COUNTS) for _, modifier in level)
        return levels

    def _modifier(self, name: str, start: int, source: Dice | Group | Modified) -> list[_Found]:
        """`modifier := explode | reroll | unique | clamp | keep | drop | success | failure | mark | sort | ..`."""
        known = self.reading.modifiers.get(name, "=" if not name else "")
        span = self.scan.since(start)
        if name == "r" or (name in ("d", "k", "cs", "cf") and not isinstance(source, Group)):
            self.warn(name, span)
        phase = self.reading.phases.get(known, 0)
        if name == "c":
            return [(self.reading.phases["tally"], self._called(start))]
        if self.has(Trait.SELECTORS):
            return [(phase, each) for each in self._selecting(known, name, start)]
        if known == "ms":
            self._margin(start)
            return []
        return [(phase, self._parse(known, name, start, source))]

    def _named(self, source: Dice | Group | Modified) -> str:
        """`named := "c" before 0 or 1, behind coins | modifier`: the empty string where none comes next."""
        scan, bare = self.scan, _bare(source)
        coins = isinstance(bare, Dice) and isinstance(bare.sides, Faces) and bare.sides.faces == COIN
        if coins and self.has(Trait.TALLIES) and _CALL.match(scan.folded, scan.at) and scan.take("c"):
            return "c"
        return scan.modifier()

    def _called(self, start: int) -> Tally:
        """`called := "c" ("0" | "1")`: which side of a coin is a success."""
        at = self.scan.at
        number = Number(self.scan.whole("c"), self.scan.since(at))
        self.count_node(number.span)
        return Tally("cs", Compare("=", number, number.span), self.scan.since(start))

    def _own_face(self, source: Dice | Group | Modified, start: int, *, highest: bool) -> Compare:
        """Return the compare point of a count that has none: the highest or the lowest face."""
        bare = _bare(source)
        face: Exact | None = None
        if isinstance(bare, Dice) and isinstance(bare.sides, Faces):
            face = max(bare.sides.faces) if highest else min(bare.sides.faces)
        elif isinstance(bare, Dice) and isinstance(bare.sides, Number):
            face = bare.sides.value if highest else 1
        span = self.scan.since(start)
        if face is None or face < 0:
            raise self.scan.unexpected("a count", "a compare point such as =6")
        number = Number(face, span)
        self.count_node(span)
        return Compare("=", number, span)

    def _deducting(self, tally: Tally, before: list[Modifier], source: Dice | Group | Modified) -> Tally:
        """Return what `df` and `sf` take off: where no success was counted, the failures, or else the lowest face."""
        tallies = [each for each in before if isinstance(each, Tally)]
        if (
            tally.kind not in ("df", "sf")
            or tally.compare
            or any(each.kind not in ("cf", "df", "sf") for each in tallies)
        ):
            return tally
        compares = [each.compare for each in tallies if each.compare]
        compare = compares[-1] if compares else self._own_face(source, tally.span.start, highest=False)
        return replace(tally, compare=compare)

    def _parse(self, known: str, name: str, start: int, source: Dice | Group | Modified) -> Modifier:
        match known:
            case "!":
                return self._explode(name, start)
            case "rr" | "ro":
                if self.has(Trait.AT_MOST) and (most := self._at_most()) is not None:
                    points = self._points()
                    return Among(False, known == "rr", points, most, self.scan.since(start))
                compare = self._optional_point()
                return Reroll(known == "ro", compare, self.scan.since(start))
            case "u" | "uo":
                compare = self._compare_point(name) if "!=" in self.reading.compares and self._sign_next() else None
                return Unique(known == "uo", self.scan.since(start), compare)
            case "min" | "max":
                limit = self._without_dice(self._signed_factor(name))
                return Clamp(known, limit, self.scan.since(start))
            case "kh" | "kl":
                count = self._selected()
                return Keep(known == "kh", count, self.scan.since(start))
            case "dh" | "dl":
                count = self._selected()
                bare = name == "d" and "d" in self.reading.warnings
                return Drop(known == "dh", count, bare, self.scan.since(start))
            case "=" | "f":
                return self._count(known == "f", start)
            case "tally":
                compare = None if name in ("even", "odd") else self._optional_point()
                if compare is None and name in ("cs", "cf"):
                    compare = self._own_face(source, start, highest=name == "cs")
                return Tally(name, compare, self.scan.since(start))
            case "m" | "mt":
                return self._match(known == "mt", start)
            case "cs" | "cf":
                return Mark(known == "cf", self._optional_point(), self.scan.since(start))
            case _:
                return Sort(known == "sd", self.scan.since(start))

    def _explode(self, name: str, start: int) -> Explode | Among:
        """`explode := ("!" | "!!") "p"? "o"? cap? compare? | ("x" | "xo") cap? compare?`: with cap := "~" factor."""
        scan = self.scan
        if self.has(Trait.AT_MOST) and (most := self._at_most()) is not None:
            points = self._points()
            return Among(True, name == "x", points, most, scan.since(start))
        capped = scan.peek() == "~" and "~" in self.reading.tokens and scan.take("~")
        cap = self._without_dice(self.factor("~", "a number of extra rolls")) if capped else None
        if name == "!" and scan.peek() == "=":
            self.warn("!=", Span(start, scan.at + 1))
        compare = self._optional_point()
        return Explode("!!" in name, "p" in name, "o" in name, cap, compare, scan.since(start))

    def _at_most(self) -> int | None:
        """`at_most := whole before a compare sign`: None where none comes next."""
        scan = self.scan
        at, end = scan.at, scan.token_end
        if not (scan.peek().isdigit() and scan.peek().isascii()):
            return None
        most = scan.number()
        if isinstance(most, int) and scan.peek() and scan.peek() in "<>=":
            return most
        scan.at, scan.token_end = at, end
        return None

    def _points(self) -> tuple[Point, ...]:
        return (self._compare_point(),)

    def _margin(self, start: int) -> None:
        """`margin := "ms" (">" | ">=" | "=" | "<" | "<=")? factor`: how far the total is beyond the point."""
        scan = self.scan
        sign = scan.compare()
        point = self._without_dice(self.factor(sign or "ms", "a number"))
        self.count_node(scan.since(start))
        self.margin = ("<" if sign in ("<", "<=") else ">", point)

    def _selected(self) -> Node:
        """`selected := factor?`: absent it is 1."""
        written = self.has(Trait.COUNTS_WRITTEN)
        if self._factor_next() and not written:
            return self.factor("keep or drop", "a number")
        if written:
            start = self.scan.at
            count = self.scan.whole("keep or drop")
            if not count:
                raise beyond("dice_per_pool", MAX_POOL, "0", self.scan.since(start), minimum=1)
            number = Number(count, self.scan.since(start))
            self.count_node(number.span)
            return number
        at = self.scan.ended()
        self.count_node(Span(at, at))
        return Number(1, Span(at, at))

    def _match(self, total: bool, start: int) -> Match:  # noqa: FBT001  the two kinds of one modifier
        """`match := ("m" | "mt") whole? compare?`: how many dice it takes, 2 at least, and which values."""
        scan = self.scan
        count = 2
        if scan.peek().isdigit() and scan.peek().isascii():
            at = scan.at
            count = scan.whole("m or mt")
            if not 2 <= count <= MAX_POOL:
                raise beyond("dice_per_match", MAX_POOL, str(count), scan.since(at), minimum=2)
        compare = self._compare_point() if self._sign_next() else None
        return Match(total, count, compare, scan.since(start))

    def _count(self, failure: bool, start: int) -> Count:  # noqa: FBT001  the two kinds of one modifier
        """`count := "f"? compare (":" whole)?`: the weight is 1..9; success needs its operator."""
        scan = self.scan
        compare = self._compare_point("f" if failure else "a pool")
        weight = 1
        if scan.peek() == ":" and ":" in self.reading.tokens:
            scan.take(":")
            at = scan.at
            weight = scan.whole(":")
            if not 1 <= weight <= MAX_WEIGHT:
                raise beyond("weight", MAX_WEIGHT, str(weight), scan.since(at), minimum=1)
        return Count(failure, compare, weight, scan.since(start))

    def _optional_point(self) -> Compare | None:
        """`optional_point := compare_point?`."""
        if (self._factor_next() and self.has(Trait.BARE_POINT)) or self._sign_next():
            return self._compare_point()
        return None

    def _sign_next(self) -> bool:
        scan = self.scan
        sign = scan.peek()
        return bool(sign) and (sign in "<>=" or (scan.ahead("!=") and "!=" in self.reading.compares))

    def _compare_point(self, after: str = "a modifier") -> Compare:
        """`compare_point := ("=" | "<>" | ">" | "<" | ">=" | "<=")? factor`: a bare factor means equals."""
        scan = self.scan
        start = scan.at
        foreign = scan.foreign() if self._sign_next() else ""
        spelling = scan.compare()
        if len(foreign) > len(spelling):
            span = Span(start, start + len(foreign))
            inclusive = self.reading.compares.get(foreign[0]) == foreign
            raise self.lacking(foreign, span, f"{foreign[0]} is {foreign} in {self.reading.title}" if inclusive else "")
        operator = self.reading.compares.get(spelling, "")
        if operator in ("<", ">", "<=", ">=") and spelling in ("<", ">"):
            self.warn(spelling, scan.since(start))
        if not operator and not (self._factor_next() and self.has(Trait.BARE_POINT)):
            bare = "1" if self.has(Trait.BARE_POINT) else "=1"
            raise scan.unexpected(after, f"a compare point such as {bare} or <2")
        value = self._without_dice(self._signed_factor(spelling or after))
        return Compare(operator or "=", value, scan.since(start))

    def _signed_factor(self, after: str) -> Node:
        """`signed_factor := factor | "-" number`: the latter where a sign is part of a literal."""
        scan = self.scan
        start = scan.at
        if self.has(Trait.NUMBERS_ALONE_NEGATE) and scan.take("-"):
            number = Number(scan.number(), scan.since(start))
            self.count_node(number.span)
            self.count_node(number.span)
            return Negate(number, scan.since(start))
        return self.factor(after, "a number", "a variable", "(")

    def _factor_next(self) -> bool:
        sign = self.scan.peek()
        return sign in ("@", "(") or (sign.isdigit() and sign.isascii())

    def _without_dice(self, node: Node) -> Node:
        if has_dice(node):
            raise refuse("DICE_IN_COMPARE", "a compare point, a cap or a clamp holds no dice", node.span)
        return node

    # Selectors

    def _selecting(self, known: str, name: str, start: int) -> list[Modifier]:
        """`selecting := (name selector)+`: selectors of one modifier in a row choose together."""
        scan = self.scan
        points = [self._selector(name)]
        if known in ("min", "max"):
            (point,) = points
            if isinstance(point, Rank) or point.operator != "=":
                raise refuse(SYNTAX, f"{name} takes a number", point.span, expected=("a number",))
            return [Clamp(known, point.value, scan.since(start))]
        while True:
            at, end = scan.at, scan.token_end
            if scan.modifier() != name:
                scan.at, scan.token_end = at, end
                break
            self.count_node(scan.since(at))
            points.append(self._selector(name))
        span = scan.since(start)
        first = points[0]
        if known == "keep" and any(isinstance(each, Compare) and each.operator == "=" for each in points):
            self.warn("k=", span)
        match known:
            case "keep" | "drop":
                return _sieved(points, span, keep=known == "keep")
            case "rr":
                ranks = [each for each in points if isinstance(each, Rank)]
                if ranks:
                    raise refuse(
                        "NEVER_ENDS",
                        "there is always a highest and a lowest die to reroll",
                        ranks[0].span,
                        hint="reroll once with ro",
                    )
                return [Reroll(False, each, span) for each in points if isinstance(each, Compare)]
            case "ro" if len(points) == 1 and isinstance(first, Compare):
                return [Reroll(True, first, span)]
            case "!" if len(points) == 1 and isinstance(first, Compare):
                return [Explode(False, False, False, None, first, span)]
            case "ro":
                return [Among(False, False, tuple(points), None, span)]
            case "!":
                return [Among(True, True, tuple(points), None, span)]
            case _:
                return [Among(True, False, tuple(points), 1, span)]

    def _selector(self, name: str) -> Point:
        """`selector := ("h" | "l" | "<" | ">")? whole`."""
        scan = self.scan
        start = scan.at
        if scan.peek() and scan.peek() in "hl":
            highest = scan.take("h") or not scan.take("l")
            count = scan.whole(name)
            return Rank(highest, count, scan.since(start))
        compare = self._compare_point(name)
        if not (isinstance(compare.value, Number) and isinstance(compare.value.value, int)):
            raise refuse(SYNTAX, f"{name} takes a whole number", compare.value.span, expected=("a whole number",))
        return compare

    # What fits

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
            what = "count" if isinstance(modifier, _COUNTS) else "select"
            if len(group.elements) == 1 and not isinstance(modifier, Sort) and self.reading.alone[what] == "refused":
                raise refuse(
                    "GROUP_OF_ONE",
                    "a group of one has nothing to choose from",
                    modifier.span,
                    hint="to choose among the dice of a pool write (4d6)kh3",
                )
        together = self.has(Trait.WHOLE_POOL) or self.has(Trait.IN_ORDER)
        if isinstance(modifier, Keep) and any(isinstance(each, Keep) for each in before) and not together:
            raise refuse("TWO_KEEPS", "a pool is kept once", modifier.span, hint="to keep again write (4d6kh3)kl1")
        if isinstance(modifier, Count):
            successes = [each for each in before if isinstance(each, Count) and not each.failure]
            if modifier.failure and not successes:
                raise refuse(
                    "FAILURE_WITHOUT_SUCCESS",
                    "failures are counted only after a success",
                    modifier.span,
                    hint=self.shown("failure", "write the success first: "),
                )
        if isinstance(modifier, _COUNTS) and any(
            isinstance(each, _COUNTS) and type(each) is not type(modifier) for each in before
        ):
            raise refuse("COUNTED_ALREADY", "the dice are counted in another way already", modifier.span)
        if not isinstance(modifier, (Mark, Sort)) and _counts(source):
            raise refuse("COUNTED_ALREADY", "the dice in the parentheses are counted already", modifier.span)


def settled(node: Dice | Group | Modified) -> Dice | Group | Modified:
    """Return a pool in which a lone `cs` that counts is the success that it is in every dialect."""
    if not isinstance(node, Modified):
        return node
    source = settled(node.source)
    tallies = [each for each in node.modifiers if isinstance(each, Tally)]
    if len(tallies) == 1 and tallies[0].kind == "cs" and tallies[0].compare is not None:
        (tally,) = tallies
        compare = tallies[0].compare
        changed = [Count(False, compare, 1, each.span) if each is tally else each for each in node.modifiers]
        return replace(node, source=source, modifiers=tuple(changed))
    return node if source is node.source else replace(node, source=source)


def with_margin(node: Node, margin: tuple[str, Node], span: Span) -> Chain:
    """Return how far a total is beyond a point, or below it."""
    sign, point = margin
    operands = (node, point) if sign == ">" else (point, node)
    return Chain(operands, ("-",), span)


def _sieved(points: list[Point], span: Span, *, keep: bool) -> list[Modifier]:
    """Return what keeps or drops the dice that any point chooses, in STANDARD's own modifiers where those suffice."""
    ranks = [each for each in points if isinstance(each, Rank)]
    if len(ranks) == len(points) and len({each.highest for each in ranks}) == len(ranks):
        counts = [Number(each.count, each.span) for each in ranks]
        if keep and len(ranks) == 1:
            return [Keep(ranks[0].highest, counts[0], span)]
        if not keep:
            # Dropped at both ends: the same dice, whether together or one after the other.
            return [Drop(each.highest, count, False, span) for each, count in zip(ranks, counts, strict=True)]
    return [Sieve(keep, tuple(points), span)]


def _whole_pool(modifiers: list[Modifier]) -> list[Modifier]:
    """Return modifiers in which selections that each look at all dice are one."""
    selections = [each for each in modifiers if isinstance(each, (Keep, Drop))]
    drops = [each for each in selections if isinstance(each, Drop)]
    if len(selections) < 2 or (len(drops) == 2 and len(selections) == 2):
        return modifiers
    points = tuple([_rank(each) for each in selections])
    sieve = Sieve(False, points, selections[0].span)
    first = modifiers.index(selections[0])
    return [sieve if index == first else each for index, each in enumerate(modifiers) if each not in selections[1:]]


def _rank(selection: Keep | Drop) -> Rank:
    count = selection.count
    if not isinstance(count, Number):
        message = "dialects in which selections look at all dice have literal counts"
        raise AssertionError(message)  # noqa: TRY004  nobody's argument is wrong: the parser's table would be
    return Rank(selection.highest, int(count.value), selection.span, others=isinstance(selection, Keep))


def _can_both_hold(one: Compare, other: Compare) -> bool:
    """Tell whether a whole number can fit two compare points; what is no literal may be anything."""
    values = [_literal(each.value) for each in (one, other)]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return True
    tests = [tester(each.operator, value) for each, value in zip((one, other), known, strict=True)]
    # What holds changes only next to the points.
    near = [floor(value) + step for value in known for step in (-1, 0, 1, 2)]
    return any(all(test(each) for test in tests) for each in near)


def _literal(node: Node) -> Exact | None:
    match node:
        case Number(value):
            return value
        case Negate(Number(value)):
            return -value
        case _:
            return None


def _by_value(modifiers: list[Modifier], source: Dice | Group | Modified) -> list[Modifier]:
    """Return modifiers that look at values where those are no longer the natural faces."""
    changed = False
    while isinstance(source, Modified):
        changed = changed or any(map(_changes, source.modifiers))
        source = source.source
    settled: list[Modifier] = []
    for modifier in modifiers:
        match modifier:
            case Explode() | Reroll() | Unique():
                settled.append(replace(modifier, valued=changed))
            case _:
                settled.append(modifier)
        changed = changed or _changes(modifier)
    return settled


def _clamped(source: Dice | Group | Modified) -> bool:
    """Tell whether a pool has clamps: dice that are rolled again together are a level of their own behind those."""
    while isinstance(source, Modified):
        if any(isinstance(each, Clamp) for each in source.modifiers):
            return True
        source = source.source
    return False


def _changes(modifier: Modifier) -> bool:
    """Tell whether a modifier makes values that are not natural faces."""
    return isinstance(modifier, Clamp) or (isinstance(modifier, Explode) and (modifier.compound or modifier.penetrate))


def _last_of_each(found: list[_Found]) -> list[_Found]:
    """Return modifiers without those that a later one of their kind replaces."""
    kept: list[_Found] = []
    for each in found:
        if not (isinstance(each[1], Count) and each[1].failure):
            kept = [other for other in kept if _kind(other[1]) != _kind(each[1])]
        kept.append(each)
    return kept


def _successes_first(found: list[_Found]) -> list[_Found]:
    """Return modifiers in which a failure leaves successes alone, where both can hold for one die."""
    points = [each.compare for _, each in found if isinstance(each, Count) and not each.failure]
    return [
        (phase, replace(each, rest=True))
        if isinstance(each, Count) and each.failure and any(_can_both_hold(each.compare, point) for point in points)
        else (phase, each)
        for phase, each in found
    ]


def _kind(modifier: Modifier) -> tuple[type[Modifier], bool | str]:
    match modifier:
        case Keep(highest=end) | Drop(highest=end) | Mark(fumble=end):
            return type(modifier), end
        case Clamp(side=side):
            return Clamp, side
        case _:
            return type(modifier), True


def _phase(found: _Found) -> int:
    return found[0]


def _bare(source: Dice | Group | Modified) -> Dice | Group:
    while isinstance(source, Modified):
        source = source.source
    return source


def _is_count(modifier: Modifier) -> bool:
    """Tell whether a modifier changes what dice are worth: matches may only be shown."""
    return isinstance(modifier, (Count, Tally)) or (isinstance(modifier, Match) and modifier.total)


def _counts(source: Dice | Group | Modified) -> bool:
    while isinstance(source, Modified):
        if any(map(_is_count, source.modifiers)):
            return True
        source = source.source
    return False
