"""Properties of the notation: one class for each sentence of its specification."""

import random
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fairroll_rules.errors import CheckError
from fairroll_rules.given import GivenFaces
from fairroll_rules.limits import MAX_DRAWS
from fairroll_rules.notation import analyse, parse
from fairroll_rules.outcome import Fate
from fairroll_rules.resolve import Resolved, resolve
from fairroll_rules.systems.notation import NotationCheck, Variable, explain_tree, text
from tests.property.notations import EXAMPLES, LONG, NOTATIONS, PLAIN_POOLS, POOLS, VARIABLES, mutated
from tests.rules.notation.oracle import shape, shape_of

pytestmark = pytest.mark.timeout(7200 if LONG else 300)

BOUND = tuple(Variable(name, value) for name, value in VARIABLES.items())
many = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
some = settings(max_examples=EXAMPLES // 5, suppress_health_check=list(HealthCheck))

# Reasons that are no matter of grammar: what the oracle does not know.
BEYOND_GRAMMAR = {
    "LIMIT_EXCEEDED",
    "TWO_KEEPS",
    "GROUP_OF_ONE",
    "FAILURE_WITHOUT_SUCCESS",
    "COUNTED_ALREADY",
    "DICE_IN_COMPARE",
    "ARGUMENT_COUNT",
    "MODIFIER_MISPLACED",
}
ONE_OF = (Fate.KEPT, Fate.DROPPED, Fate.REROLLED, Fate.ADDED)


def checked(notation: str) -> NotationCheck | CheckError:
    try:
        return NotationCheck(notation, variables=BOUND)
    except CheckError as refused:
        return refused


def valid(notation: str) -> NotationCheck:
    check = checked(notation)
    assume(isinstance(check, NotationCheck))
    assert isinstance(check, NotationCheck)
    return check


def rolled(check: NotationCheck, seed: int) -> Resolved:
    rng = random.Random(seed)
    return resolve(check, lambda sides: rng.randrange(sides) + 1)


def fates_by_value(result: Resolved) -> list[tuple[int, list[str]]]:
    return sorted((die.value, [fate.name for fate in die.fates]) for die in result.outcome.dice)


class TestCanonicalTextParsesBackToTheSameTree:
    @some
    @given(NOTATIONS)
    def test_same_tree_and_stable_text(self, notation: str) -> None:
        try:
            tree = parse(notation)
        except CheckError:
            return
        again = parse(tree.canonical)
        assert again.root == tree.root
        assert again.canonical == tree.canonical
        assert again.nodes == tree.nodes


class TestEveryRollIsWithinItsBounds:
    @some
    @given(NOTATIONS, st.integers(0, 2**32))
    def test_total_and_draws(self, notation: str, seed: int) -> None:
        check = valid(notation)
        bounds = analyse(parse(notation), VARIABLES)
        result = rolled(check, seed)
        firsts = sum(draw.of is None for draw in result.draws)
        assert firsts <= bounds.draws
        if result.outcome is None:
            assert result.limit_reached is not None
            return
        for each in result.outcome.results or (result.outcome,):
            assert bounds.minimum <= Fraction(each.exact) <= bounds.maximum
            assert each.total == Fraction(each.exact).__floor__()


class TestKeptIsAllMinusDroppedByIndex:
    @some
    @given(POOLS, st.integers(0, 2**32))
    def test_each_die_has_one_fate_of_four_and_the_kept_make_the_total(self, notation: str, seed: int) -> None:
        result = rolled(valid(notation), seed)
        assume(result.outcome is not None)
        dice = result.outcome.dice
        assert [die.draw for die in dice] == list(range(len(result.draws)))
        for die in dice:
            assert sum([die.fates.count(fate) for fate in ONE_OF]) == 1
        rerolled = {draw.of for draw in result.draws if draw.purpose.name == "REROLL"}
        assert {die.draw for die in dice if Fate.REROLLED in die.fates} == rerolled
        exploded = {draw.of for draw in result.draws if draw.purpose.name == "EXPLODE"}
        assert {die.draw for die in dice if Fate.EXPLODED in die.fates} == exploded
        if "(1d" not in notation and not any(sign in notation for sign in "<>="):
            kept = [die.value for die in dice if Fate.KEPT in die.fates]
            assert result.outcome.total == sum(kept)


class TestPermutingFacesInsideAPoolChangesNoValue:
    @some
    @given(PLAIN_POOLS, st.randoms(use_true_random=False))
    def test_only_which_draw_carries_which_fate(self, pool: tuple[int, int, str], rng: random.Random) -> None:
        count, sides, notation = pool
        check = valid(notation)
        faces = [rng.randint(1, sides) for _ in range(count)]
        shuffled = rng.sample(faces, count)
        one, other = resolve(check, GivenFaces(faces)), resolve(check, GivenFaces(shuffled))
        assert one.value == other.value
        assert fates_by_value(one) == fates_by_value(other)


class TestWhateverTheTextItEndsTypedAndInBudget:
    @many
    @given(st.one_of(NOTATIONS, mutated(), st.text(max_size=60)), st.integers(0, 2**32))
    def test_a_result_or_a_typed_error(self, notation: str, seed: int) -> None:
        check = checked(notation)
        if isinstance(check, CheckError):
            assert check.reason
            assert check.span is not None
            assert 0 <= check.span.start <= check.span.end <= len(notation)
            assert check.field in ("text", "variables")
            return
        result = rolled(check, seed)
        assert len(result.draws) <= MAX_DRAWS
        if result.outcome is None:
            assert result.limit_reached is not None
            assert result.limit_reached.reason == "LIMIT_REACHED"
            return
        assert rolled(check, seed) == result
        assert text(check, result.outcome, result.draws).line.startswith(parse(notation).canonical)


class TestTheDerivedTreeTellsTheSameTotal:
    @some
    @given(NOTATIONS, st.integers(0, 2**32))
    def test_root_total_and_spans(self, notation: str, seed: int) -> None:
        check = valid(notation)
        result = rolled(check, seed)
        assume(result.outcome is not None)
        tree = explain_tree(check, result.draws)
        assert tree.total == result.outcome.exact
        assert tree.draws == tuple(range(len(result.draws)))
        nodes = [tree]
        for node in nodes:
            nodes += node.children
            for child in node.children:
                assert node.span.start <= child.span.start <= child.span.end <= node.span.end


class TestAnIndependentGrammarReadsTheSame:
    @some
    @given(st.one_of(NOTATIONS, mutated()))
    def test_acceptance_and_tree_shape(self, notation: str) -> None:
        ascii_only = notation.replace("\u2212", "-")
        try:
            root = parse(ascii_only).root
        except CheckError as error:
            if error.reason not in BEYOND_GRAMMAR:
                assert shape(ascii_only) is None
            return
        assert shape(ascii_only) == shape_of(root)
