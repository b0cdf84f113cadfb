"""Limits of one notation, fail closed; every error names the limit and its value, and `GetLimits` shows them.

What a notation shares with the systems (dice a pool, sides, draws, rolls again) is in `fairroll_rules.limits`.
"""

MAX_CHARACTERS = 1_000
"""Code points of a text."""

MAX_DEPTH = 64
"""Parentheses, groups, functions, signs and exponents inside each other."""

MAX_TREE_NODES = 200
"""Nodes of a tree, modifiers included."""

MAX_MODIFIERS = 12
"""Modifiers of one pool or group."""

MAX_DIGITS = 10
"""Digits of a number, those after the point included."""

MAX_EXPONENT = 64
"""Exponents are 0..64."""

MAX_REPEAT = 100
"""Results of a repeat, at least 1."""

MAX_WEIGHT = 9
"""What one die may count for as a success or a failure, at least 1."""

MAX_WORK = 200_000
"""Dice looked at by all modifiers together, rolls again left out."""

MAX_NUMBER_BITS = 1_024
"""Bits of a value inside the expression, numerator and denominator together."""

MAX_TOTAL = 2**63 - 1
"""Totals fit int64."""

MIN_TOTAL = -(2**63)
"""Totals fit int64."""

MAX_VARIABLES = 200
"""Variables bound in one check."""
