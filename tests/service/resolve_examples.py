"""The worked examples that have dice, as a player types them: check, faces and answers of `fairroll resolve`.

What must come out is in tests/vectors/rules_examples.json under the same id. Here stands where an outcome has it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROWS: dict[str, dict[str, Any]] = {
    row["id"]: row
    for row in json.loads((Path(__file__).parents[1] / "vectors" / "rules_examples.json").read_text("utf-8"))
}
DICE = {"dice", "rolls", "members", "elf", "peril_die", "percentile", "nonskilled_stat", "a", "fortune"}
"""What is given where faces are; `dice` of an exchange is a number of dice."""


class Example(NamedTuple):
    """One command line; `places` say where in the outcome of the roll a member of the row's `expect` stands."""

    id: str
    system: str
    roll: str
    check: dict[str, Any]
    faces: str
    places: dict[str, str]
    answers: str = ""

    @property
    def expect(self) -> dict[str, Any]:
        expect: dict[str, Any] = ROWS[self.id]["expect"]
        by_rule: dict[str, Any] = expect.get("by_rule", expect)
        return by_rule


def with_dice() -> set[str]:
    """The ids of the rows that give faces."""
    return {
        id_ for id_, row in ROWS.items() if DICE & set(row["given"]) and not isinstance(row["given"].get("dice"), int)
    }


SUM, KEPT, VALUE = {"sum": "throw.sum"}, {"kept": "throw.dice kept"}, {"sv": "throw.successValue"}
BEFORE, MULTIPLE = {"sv_before": "throw.chartValue"}, {"multiple": "throw.multiple"}
AFTER, FATE_DICE = {"multiple_after": "throw.multipleAfter"}, {"temporary_fate_dice": "throw.temporaryFateDice"}
OPPOSED = {
    "elf_total": "throw.total",
    "elf_sv": "throw.successValue",
    "orc_total": "opposingThrow.total",
    "orc_sv": "opposingSuccessValue",
    "result": "result",
}
PERIL = {
    "opponent_sv": "opposingSuccessValue",
    "hit_at_or_below": "peril.hitAtOrBelow",
    "strong_at_or_below": "peril.strongHitAtOrBelow",
}


def crossroads(id_: str, faces: str, *places: dict[str, str], answers: str = "", **check: object) -> Example:
    whole = {name: place for each in places for name, place in each.items()}
    return Example(id_, "crossroads", "skillRoll", check, faces, whole, answers)


def orc(statistic: int) -> dict[str, Any]:
    return {"statistic": statistic, "opposingRoll": {"name": "Orc", "statistic": 1}}


CROSSROADS = [
    crossroads("CR-01", "5,4,3,2", SUM, KEPT, advantage=1, answers="REMOVE_2"),
    crossroads("CR-02", "5,4,3,2,1", SUM, KEPT, disadvantage=2, answers="REMOVE_5_4"),
    crossroads("CR-06", "5,3,2,6,4,1", OPPOSED, **orc(1)),
    crossroads("CR-06b", "5,3,2,6,4,3", OPPOSED, **orc(2)),
    crossroads("CR-07a", "3,6,1", PERIL, perilDie={"statistic": 1}),
    crossroads("CR-07b", "4,6,1", {"opponent_sv": PERIL["opponent_sv"]}, perilDie={"statistic": 1}),
    crossroads("CR-09a", "6,4,2", SUM, VALUE, {"critical": "critical"}),
    crossroads("CR-09b", "6,4,2", VALUE, {"critical": "critical"}, opposingValue={"successValue": 1}),
    crossroads("CR-11", "4,3,3", SUM, MULTIPLE, {"sv_if_kept": "throw.successValue"}, answers="KEEP"),
    crossroads("CR-12", "6,6,2", SUM, BEFORE, MULTIPLE, VALUE),
    crossroads("CR-13", "6,1,1", SUM, BEFORE, MULTIPLE, VALUE),
    crossroads("CR-14a", "1,1,1", SUM, VALUE, FATE_DICE),
    crossroads("CR-14b", "6,6,6", SUM, VALUE, FATE_DICE),
    crossroads("CR-14c", "4,4,4", SUM, VALUE, MULTIPLE, FATE_DICE, answers="KEEP"),
    crossroads("CR-15a", "4,3,3,3", KEPT, SUM, VALUE, FATE_DICE, answers="REROLL_4"),
    crossroads("CR-15b", "6,3,3,6", KEPT, SUM, AFTER, VALUE, answers="REROLL_3"),
    crossroads("CR-15c", "3,3,1,1", KEPT, SUM, AFTER, VALUE, answers="REROLL_3"),
]

RESULT, ONES = {"result": "total"}, {"natural_ones": "naturalOnes"}


def dungeons(id_: str, faces: str, places: dict[str, str], answers: str = "", **check: object) -> Example:
    return Example(id_, "d6Dungeons", "skillRoll", {"difficulty": 5, **check}, faces, places, answers)


MEMBERS = [{"name": "Ann", "skill": 2}, {"name": "Bob", "skill": 3}, {"name": "Cleo", "unskilled": True}]
D6_DUNGEONS = [
    dungeons("ON-01", "2", RESULT | ONES, skill=1, disadvantage=1),
    dungeons("ON-02", "6,1,1", RESULT, "ADD", skill=3),
    dungeons("ON-03", "6,1,1", RESULT | {"saved": "onesSaved"}, "SAVE", skill=3),
    dungeons("ON-04", "6,1,1", RESULT | {"given": "onesGiven"}, "GIVE", skill=3),
    dungeons("ON-05", "1,1,1", RESULT, "ADD", skill=3),
    dungeons("ON-06", "1", RESULT | ONES, unskilled=True),
    Example(
        "ON-09",
        "d6Dungeons",
        "teamRoll",
        {"difficulty": 9, "members": MEMBERS},
        "5,1,4,4,1,3",
        {"highest": "highest", "ones": "onesAdded", "result": "total"},
    ),
]

TOTAL = {"total": "result"}
IS, TOTALS, DIE = {"result": "result"}, {"totals": "totals"}, {"die": "die"}


def msf(id_: str, roll: str, faces: str, places: dict[str, str], **check: object) -> Example:
    return Example(id_, "msfHigh", roll, check, faces, places)


MSF_HIGH = [
    msf("MS-01", "highestRoll", "3,7", IS, count=2, sides=8),
    msf("MS-02", "skillRoll", "3,9", IS | DIE, skill=0, statistic=10),
    msf("MS-04", "sumRoll", "3,5", IS, count=2, sides=6),
    msf("MS-05", "highestRoll", "2,1,4,2,4,4,1", IS | TOTALS, count=4, sides=4),
    msf("MS-06", "sumRoll", "9,7", IS | TOTALS | DIE, count=2, statistic=16),
    msf("MS-07", "sumRoll", "3,5", IS, count=2, sides=6, modifier=4),
    msf("MS-08", "statisticRoll", "3", IS | DIE, statistic=8),
    msf("MS-09", "statisticRoll", "12,3", TOTAL, statistic=13),
    msf("MS-10", "percentileRoll", "10,10", IS),
    msf("MS-11", "percentileRoll", "9,10", IS),
    msf("MS-12", "skillRoll", "6,2,6,5", IS | TOTALS, skill=-1, statistic=6),
    msf("MS-13", "statisticRoll", "4,1", TOTAL, statistic=2),
]

WINNER, NET, LEFT = {"winner": "winner"}, {"net": "netSuccesses"}, {"a_bonus_left": "attacker.pointsLeft"}
DAMAGE = {
    "average": "damage.base",
    "damage": "damage.damage",
    "absorbed": "damage.absorbed",
    "final": "damage.finalDamage",
}
HELD = {"pool": 2, "rerolls": "never"}


def meidlands(
    id_: str, faces: str, places: dict[str, str], sides: tuple[dict[str, Any], dict[str, Any]], answers: str = ""
) -> Example:
    """A check of Ann against Bob, two dice each where nothing else is said; nobody rerolls but by an answer."""
    attacker, defender = sides
    check = {"attacker": {**HELD, "name": "Ann", **attacker}, "defender": {**HELD, "name": "Bob", **defender}}
    given = ROWS[id_]["given"]
    weapon = {"damage": "A/12", "attributeModifier": 2, "armour": "L2/4"} if "weapon" in given["a"] else {}
    critical = {"usesCriticalDice": True} if "rerolls" in given else {}
    return Example(id_, "meidlands", "opposedRoll", {**check, **weapon, **critical}, faces, places, answers)


BONUS_1, BONUS_4, EXTRA = {"modifiers": [1]}, {"modifiers": [4]}, {"extra_die": "attacker.extraDie"}
CHECK = {"check": "attacker check"}
MEIDLANDS = [
    meidlands("ME-01", "1,4,2,6,3,6,5,3", WINNER | NET, ({}, {})),
    meidlands(
        "ME-02",
        "1,4,2,6,3,6,5,3,2,6,3",
        WINNER | NET | {"tie": "tie"},
        (BONUS_4, BONUS_1),
        "POOL_1,POOL_2,CRITICAL_2",
    ),
    meidlands("ME-02b", "6,4,6,6,3,6,5,3", WINNER | NET | EXTRA, ({}, {})),
    meidlands(
        "ME-03",
        "2,2,1,5,4,1,1,2,5,4,1,6",
        NET | LEFT | DAMAGE,
        (BONUS_4, BONUS_1),
        "POOL_2,POOL_1,CRITICAL_1,CRITICAL_1",
    ),
    meidlands(
        "ME-04",
        "5,5,6,6,5,3,3,3,1,4,3",
        NET | DAMAGE | EXTRA | {"hard_critical_damage": "damage.hardCriticalDamage"},
        (BONUS_4, {}),
        "CRITICAL_1",
    ),
    meidlands(
        "ME-05",
        "5,6,5,1,5,4,4,5,6,4",
        NET | DAMAGE | {"fierce": "fierceStrike", "free_attack": "freeAttack"},
        ({"pool": 3}, BONUS_1),
        "PICK_5_4",
    ),
    meidlands(
        "ME-06",
        "3,6,3,3,1,6,5,5,5,5,3,3",
        NET | LEFT | CHECK | {"critical": "attacker.critical"},
        ({"pool": 4, "modifiers": [1, 3, -3]}, {"pool": 3}),
        "CRITICAL_1",
    ),
    meidlands("ME-07", "3,2,1,3,4,2,6,4", NET | CHECK, ({"pool": 1, "modifiers": [2, 3, -3]}, {"pool": 3})),
    meidlands(
        "ME-08", "4,5,4,2,4,1,1,2,6", NET | CHECK, ({"pool": 1, "modifiers": [2, 3], "exchange": 1}, {"pool": 3})
    ),
]

FORTUNE = {"fortune": "fortune", "doom": "doom", "final": "finalResult", "hope": "hope"}


def fortune_doom() -> Iterator[Example]:
    """Each row as it stands: what is not fortune, doom, modifier or a new face is a field of the check."""
    for id_, row in ROWS.items():
        given = row["given"]
        if row["system"] == "fortune_doom" and "fortune" in given:
            rerolls = [str(given[name]) for name in ("reroll", "condition_reroll", "fear_reroll") if name in given]
            flags = {name: True for name in ("advantage", "condition", "fear", "hope") if given.get(name)}
            check = {"attribute": given.get("modifier", 0), **flags}
            answers = given.get("tie_choice", "").upper()
            faces = ",".join([str(given["fortune"]), str(given["doom"]), *rerolls])
            places = {name: place for name, place in FORTUNE.items() if name in row["expect"]}
            yield Example(id_, "fortuneDoom", "resolutionRoll", check, faces, places, answers)


EXAMPLES = [*CROSSROADS, *D6_DUNGEONS, *MSF_HIGH, *MEIDLANDS, *fortune_doom()]


def found(outcome: dict[str, Any], place: str) -> Any:  # noqa: ANN401  any JSON
    """What stands at a place of an outcome, written as the rows write it."""
    if place == "die":
        modifier = outcome["dieModifier"]
        return f"d{outcome['sides']}{f'{modifier:+d}' if modifier else ''}"
    if place == "attacker check":
        return f"{outcome['attacker']['diceRolled']}D{outcome['attacker']['modifier']:+d}"
    path, _, kept = place.partition(" ")
    value: Any = outcome
    for name in path.split("."):
        value = value[name]
    if kept:
        return sorted((int(die["value"]) for die in value if die["fates"] == ["FATE_KEPT"]), reverse=True)
    if isinstance(value, str) and not value.lstrip("-").isdigit():  # an enum
        return value.rpartition("_")[2].lower()
    return int(value) if isinstance(value, str) else value  # 64-bit integers are text in JSON
