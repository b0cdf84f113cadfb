"""Checks of every roll of every system, as a caller would write them: the conformance suite runs over all."""

import json
from typing import Any, NamedTuple

from fairroll import json_codec
from fairroll.v1 import roll_pb2


class Sample(NamedTuple):
    """One check: its system, the dataclass of its roll, and its JSON under the system's name."""

    name: str
    roll: str
    body: dict[str, Any]

    def message(self) -> roll_pb2.Check:
        return json_codec.from_value(roll_pb2.Check, {self.name: _numbers_as_read(self.body)})


def _numbers_as_read(value: Any) -> Any:  # noqa: ANN401  any JSON
    """Let the codec parse it, which keeps the digits of a number as they stood."""
    return json_codec.parse(json.dumps(value))


_NAMED = {"name": "Ann", "statistic": 2, "advantage": 1}

SAMPLES = [
    Sample("notation", "NotationCheck", {"text": "4d6kh3"}),
    Sample(
        "notation",
        "NotationCheck",
        {"text": "2d6!~3 + 3d10>=8f=1 + @str[bonus] / 2", "variables": [{"name": "str", "value": 3}]},
    ),
    Sample("notation", "NotationCheck", {"text": "6x{4d6ro=1kh3}", "rounding": "ROUNDING_UP"}),
    Sample("notation", "NotationCheck", {"text": "0d6"}),
    Sample(
        "crossroads", "SkillRoll", {"skillRoll": {"statistic": 2, "advantage": 3, "change": "CHANGE_POLICY_LOWEST"}}
    ),
    Sample("crossroads", "SkillRoll", {"skillRoll": {"opposingValue": {"successValue": 1}}}),
    Sample("crossroads", "SkillRoll", {"skillRoll": {"opposingRoll": {"name": "Orc", "disadvantage": 2}}}),
    Sample("crossroads", "SkillRoll", {"skillRoll": {"disadvantage": 1, "perilDie": {"statistic": 2}}}),
    Sample(
        "crossroads",
        "GroupRoll",
        {"groupRoll": {"mode": "GROUP_MODE_ALL_TOGETHER", "members": [_NAMED, {"name": "Bob"}, {"name": "Cid"}]}},
    ),
    Sample("crossroads", "GroupRoll", {"groupRoll": {"mode": "GROUP_MODE_SIMPLE", "members": [_NAMED]}}),
    Sample("crossroads", "DamageStep", {"damageStep": {"advantage": 2}}),
    Sample("d6_dungeons", "SkillRoll", {"skillRoll": {"difficulty": 5, "skill": 3, "savedOnesSpent": 1}}),
    Sample(
        "d6_dungeons", "SkillRoll", {"skillRoll": {"difficulty": 3, "ones": "ONES_POLICY_SPLIT", "split": {"save": 1}}}
    ),
    Sample(
        "d6_dungeons",
        "TeamRoll",
        {"teamRoll": {"difficulty": 9, "members": [{"name": "Ann", "skill": 2}, {"name": "Bob", "unskilled": True}]}},
    ),
    Sample("fortune_doom", "ResolutionRoll", {"resolutionRoll": {"attribute": 2, "advantage": True, "fear": True}}),
    Sample(
        "fortune_doom",
        "ResolutionRoll",
        {"resolutionRoll": {"help": [1, 2], "hope": True, "bands": [{"atLeast": 10, "name": "Good", "success": True}]}},
    ),
    Sample(
        "meidlands", "OpposedRoll", {"opposedRoll": {"attacker": {"pool": 3}, "defender": {"pool": 0, "name": "Orc"}}}
    ),
    Sample(
        "meidlands",
        "OpposedRoll",
        {
            "opposedRoll": {
                "attacker": {"pool": 7, "name": "Ann", "modifiers": [2, -1]},
                "defender": {"pool": 2, "modifiers": [-2]},
                "usesCriticalDice": True,
                "damage": "A/12",
                "attributeModifier": 1,
                "armour": "L2/4",
            }
        },
    ),
    Sample("msf_high", "SkillRoll", {"skillRoll": {"skill": 3, "statistic": 7, "target": 6}}),
    Sample("msf_high", "HighestRoll", {"highestRoll": {"count": 4, "sides": 8}}),
    Sample("msf_high", "SumRoll", {"sumRoll": {"count": 2, "statistic": 9}}),
    Sample("msf_high", "StatisticRoll", {"statisticRoll": {"statistic": 14, "modifier": -2}}),
    Sample("msf_high", "PercentileRoll", {"percentileRoll": {}}),
]
"""At least one of each roll; those that differ in shape, more than once."""
