"""Limits of a record and of a check, fail closed; `GetLimits` shows all of them."""

MAX_CHECKS = 1_000
"""Checks in one request."""

MAX_DRAWS = 10_000
"""Draws in one record."""

MAX_AGAIN = 100
"""Times one die is rerolled or exploded."""

MAX_ODDS_WORK = 500_000
"""Paths, and pairs of values merged, of one exact distribution: a few seconds."""

MAX_TEXT_BYTES = 64 * 1024
"""Bytes of text in one record."""

MAX_NODES = 5_000
"""Nodes of all notation trees in one record."""

MAX_SIDES = 1_000_000
"""Sides of one die."""

MAX_POOL = 1_000
"""Dice in one pool."""

MAX_ACTORS = 100
"""Actors in one check."""

MAX_NAME_BYTES = 100
"""Bytes of a label, of an actor's name."""
