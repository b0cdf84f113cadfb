"""The guard: the store that lets a seq be used once (protocol section 2).

One row a seq. A claim is written before anything is proved and the receipt's digest before the answer leaves, so that
whatever ends the process in between, the same request later gives the same bytes and any other is refused.
"""

from fairroll.guard.claims import Claim, Guard
from fairroll.guard.rolls import Roll, guarded

__all__ = ["Claim", "Guard", "Roll", "guarded"]
