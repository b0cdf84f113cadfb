"""GetOdds: a question in, the odds out. Needs neither a server nor a network, and draws nothing that counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd, log10, sqrt
from typing import Any

from fairroll.checks import read_check_alone, require_limit
from fairroll.convert import check_path, join_path, open_policy, request_error
from fairroll.errors import RequestError
from fairroll.odds.chances import MAX_VALUES, Chances, too_many_values
from fairroll.odds.estimates import (
    CONFIDENCE_PERCENT,
    DEFAULT_DRAWS,
    MAX_ROLLS,
    MAX_SIMULATED_DRAWS,
    MIN_ROLLS,
    Simulation,
    around,
    default_rolls,
    draws_of,
    simulate,
    wilson,
)
from fairroll.odds.quantities import Quantity, quantities_of
from fairroll.odds.summary import (
    NEEDED_PERCENTS,
    PERCENTS,
    Summary,
    compare,
    summary,
    variance_of_higher,
)
from fairroll.odds.titles import title_of
from fairroll.v1 import odds_pb2, roll_pb2
from fairroll_rules.errors import LimitReached, RuleError
from fairroll_rules.quantities import Words

MAX_FRACTION_DIGITS = 4_000
"""Digits of a numerator or a denominator; Python itself writes 4,300 and no more."""

MAX_ODDS_BYTES = 4_000_000
"""Bytes of an answer: clients of gRPC take 4 MiB unless they are told otherwise."""

_VALUE_BYTES = 64
"""Bytes of a value in an answer, beside the digits of its fractions and the name that few have."""

_TOO_LONG = 10**MAX_FRACTION_DIGITS
_INT64 = 2**63


@dataclass(frozen=True, slots=True)
class Found:
    """A quantity with its odds; `simulation` is None where they are exact, `words` are what values are called."""

    name: str
    odds: Summary
    simulation: Simulation | None
    words: Words = field(default_factory=dict)


def get_odds(request: odds_pb2.GetOddsRequest) -> odds_pb2.GetOddsResponse:
    """Return the odds of a check, and of another one compared with it.

    Raises:
        RequestError: what a roll refuses; DECISION_OPEN where a policy is ASK; QUANTITY_UNKNOWN; OUT_OF_RANGE;
            LIMIT_EXCEEDED: `odds_work`, `odds_values` and `odds_bytes` where estimates are refused, `fraction_digits`,
            `simulated_draws`.
    """
    _require_rolls(request)
    if not request.HasField("check"):
        raise RequestError("REQUIRED", "odds are of a check", field="check")
    check = _read(request.check, "check")
    other = _read(request.against, "against") if request.HasField("against") else None
    quantities = _ordered(quantities_of(check), request.quantity, "quantity")
    answer = odds_pb2.GetOddsResponse()
    room = _Room()
    mine = _found(check, quantities, request, "check", room)
    _write_check(answer.odds, title_of(check, request.check.label), mine)
    if request.HasField("at_least"):
        _write_target(answer.target, mine[0], request.at_least)
    if other is not None:
        own = quantities_of(other)
        same = [each.name for each in own if each.name == request.quantity]
        others = _ordered(own, request.against_quantity or "".join(same), "against_quantity")
        theirs = _found(other, others, request, "against", room)
        _write_check(answer.against, title_of(other, request.against.label), theirs)
        _write_comparison(answer.comparison, mine[0], theirs[0])
    elif request.against_quantity:
        raise RequestError("REQUIRED", "a quantity is named of a check that is not there", field="against")
    require_limit("odds_bytes", answer.ByteSize(), MAX_ODDS_BYTES, "check")
    return answer


def _require_rolls(request: odds_pb2.GetOddsRequest) -> None:
    if request.HasField("rolls") and not MIN_ROLLS <= request.rolls <= MAX_ROLLS:
        raise RequestError(
            "OUT_OF_RANGE",
            f"rolls must be {MIN_ROLLS}..{MAX_ROLLS}, not {request.rolls}",
            field="rolls",
            minimum=MIN_ROLLS,
            maximum=MAX_ROLLS,
            value=str(request.rolls),
        )


def _read(message: roll_pb2.Check, path: str) -> Any:  # noqa: ANN401  each system has its own types
    """Return the check of a message as a roll would read it, if nobody has to be asked."""
    check = read_check_alone(message, path)
    if asking := open_policy(check):
        raise RequestError(
            "DECISION_OPEN",
            "the policy is ASK: what a person will answer has no odds",
            field=join_path(path, join_path(check_path(check), asking)),
            value="ASK",
            hint="choose another policy",
        )
    return check


def _ordered(quantities: tuple[Quantity, ...], name: str, field: str) -> list[Quantity]:
    """Return the quantities, the one that was asked for first."""
    names = tuple(quantity.name for quantity in quantities)
    if name and name not in names:
        raise RequestError(
            "QUANTITY_UNKNOWN", f"the check has no quantity {name}", field=field, value=name, expected=names
        )
    return sorted(quantities, key=lambda quantity: quantity.name != (name or names[0]))


def _found(
    check: Any,  # noqa: ANN401  each system has its own types
    quantities: list[Quantity],
    request: odds_pb2.GetOddsRequest,
    path: str,
    room: _Room,
) -> list[Found]:
    """Return the odds of each quantity: exact ones, or where that is too much work all others by one simulation."""
    exact: dict[str, Summary] = {}
    why = ""
    for quantity in quantities:
        try:
            exact[quantity.name] = _exact(quantity, room)
        except LimitReached as reached:
            if request.refuse_estimates:
                raise _beyond(reached, path) from reached
            why = reached.message
        except RuleError as error:
            raise request_error(error, path) from error
    rest = [quantity for quantity in quantities if quantity.name not in exact]
    simulated: dict[str, Summary] = {}
    simulation = None
    if rest:
        most = MAX_SIMULATED_DRAWS if request.HasField("rolls") else DEFAULT_DRAWS
        # The two checks of a comparison have dice of their own.
        counted = simulate(check, rest, _rolls(check, request), f"{path}/{request.seed}", most)
        simulation = Simulation(counted[0].total, request.seed, why)
        simulated = {quantity.name: summary(each) for quantity, each in zip(rest, counted, strict=True)}
    found: list[Found] = []
    for each in quantities:
        known = each.name in exact
        odds = exact[each.name] if known else simulated[each.name]
        found.append(Found(each.name, odds, None if known else simulation, each.words))
    return found


class _Room:
    """Bytes of an answer that are left for exact odds: what would not fit is estimated, or refused by that name."""

    def __init__(self) -> None:
        self._left = MAX_ODDS_BYTES

    def take(self, chances: Chances) -> None:
        """Take what chances need at most when they are told.

        Raises:
            LimitReached: `odds_values`, `odds_bytes`.
        """
        values = len(chances.weights)
        if values > MAX_VALUES:
            raise too_many_values(values)
        digits = decimal_digits(chances.total)
        if digits > MAX_FRACTION_DIGITS:
            return  # that is said instead: it does not depend on the other values
        needed = values * (_VALUE_BYTES + 4 * digits)  # two fractions a value
        if needed > self._left:
            raise LimitReached(
                "LIMIT_REACHED",
                "the exact odds would be too long",
                limit="odds_bytes",
                maximum=MAX_ODDS_BYTES,
                value=str(MAX_ODDS_BYTES - self._left + needed),
            )
        self._left -= needed


def decimal_digits(number: int) -> int:
    """Return how many digits a positive number has, without writing it."""
    power = int((number.bit_length() - 1) * log10(2))
    return power + 2 if number >= 10 ** (power + 1) else power + 1


def _exact(quantity: Quantity, room: _Room) -> Summary:
    chances = quantity.exact()
    room.take(chances)
    return summary(chances)


def _beyond(reached: LimitReached, path: str) -> RequestError:
    return RequestError(
        "LIMIT_EXCEEDED",
        f"{reached.message} (limit {reached.limit} of {reached.maximum}), and estimates are refused",
        field=path,
        limit=reached.limit,
        maximum=reached.maximum,
        value=reached.value,
        hint="let them be estimated",
    )


def _rolls(check: Any, request: odds_pb2.GetOddsRequest) -> int:  # noqa: ANN401  each system has its own types
    if not request.HasField("rolls"):
        return default_rolls(check)
    require_limit("simulated_draws", request.rolls * draws_of(check), MAX_SIMULATED_DRAWS, "rolls")
    return request.rolls


# Messages


def _write_check(message: odds_pb2.CheckOdds, title: str, found: list[Found]) -> None:
    message.title = title
    for each in found:
        write_quantity(message.quantities.add(), each)


def write_quantity(message: odds_pb2.QuantityOdds, found: Found) -> None:
    """Write a quantity: its values, what they come to, and how it was simulated."""
    odds = found.odds
    total = odds.total
    message.name = found.name
    values = message.values
    for value, weight, reached in zip(odds.values, odds.weights, odds.reached, strict=True):
        one = values.add(value=value, name=found.words.get(value, ""))
        _write_number(one.chance, weight, total)
        _write_number(one.at_least, reached, total)
        if found.simulation is not None:
            _write_interval(one.interval, wilson(weight, total))
    mean = odds.mean()
    variance = odds.variance(mean)
    _write_number(message.mean, mean.numerator, mean.denominator)
    _write_number(message.variance, variance.numerator, variance.denominator)
    message.standard_deviation = sqrt(message.variance.value)
    if odds.kept:
        for percent in PERCENTS:
            message.quantiles.add(percent=percent, value=odds.quantile(percent))
    _write_number(message.lost, odds.cut.numerator, odds.cut.denominator)
    _write_number(message.limit_reached, odds.ended.numerator, odds.ended.denominator)
    if found.simulation is not None:
        _write_estimate(message.estimate, found)


def _write_estimate(message: odds_pb2.OddsEstimate, found: Found) -> None:
    simulation, odds = found.simulation, found.odds
    if simulation is None:
        raise TypeError("exact odds are no estimate")
    message.rolls, message.seed, message.why = simulation.rolls, simulation.seed, simulation.why
    message.confidence_percent = CONFIDENCE_PERCENT
    mean = odds.mean()
    _write_interval(message.mean, around(float(mean), float(odds.variance(mean)) / max(1, odds.kept)))


def _write_target(message: odds_pb2.OddsTarget, found: Found, value: int) -> None:
    odds = found.odds
    message.quantity, message.at_least = found.name, value
    reached = odds.at_least(value)
    _write_number(message.chance, reached, odds.total)
    if found.simulation is not None:
        _write_interval(message.interval, wilson(reached, odds.total))
    for percent in NEEDED_PERCENTS:
        bonus = odds.bonus(value, percent)
        if bonus is not None and -_INT64 <= bonus < _INT64:
            message.needed.add(percent=percent, bonus=bonus)


def _write_comparison(message: odds_pb2.OddsComparison, mine: Found, theirs: Found) -> None:
    message.quantity, message.against_quantity = mine.name, theirs.name
    total = mine.odds.total * theirs.odds.total
    higher, equal, lower = compare(mine.odds, theirs.odds)
    _write_number(message.higher, higher, total)
    _write_number(message.equal, equal, total)
    _write_number(message.lower, lower, total)
    _write_number(message.lost, total - higher - equal - lower, total)
    if mine.simulation is not None or theirs.simulation is not None:
        varied = [
            float(variance) / found.simulation.rolls
            for found, variance in zip((mine, theirs), variance_of_higher(mine.odds, theirs.odds), strict=True)
            if found.simulation is not None
        ]
        low, high = around(message.higher.value, sum(varied))
        _write_interval(message.interval, (max(0.0, low), min(1.0, high)))


def _write_number(message: odds_pb2.OddsNumber, numerator: int, denominator: int) -> None:
    divisor = gcd(numerator, denominator)
    numerator, denominator = numerator // divisor, denominator // divisor
    if denominator >= _TOO_LONG or abs(numerator) >= _TOO_LONG:
        raise RequestError(
            "LIMIT_EXCEEDED",
            f"a fraction of these odds has more than {MAX_FRACTION_DIGITS} digits",
            field="check",
            limit="fraction_digits",
            maximum=MAX_FRACTION_DIGITS,
            value=str(decimal_digits(max(denominator, abs(numerator)))),
            hint="roll fewer dice",
        )
    message.exact = f"{numerator}/{denominator}" if denominator != 1 else str(numerator)
    message.value = numerator / denominator


def _write_interval(message: odds_pb2.OddsInterval, ends: tuple[float, float]) -> None:
    message.low, message.high = ends
