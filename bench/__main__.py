"""`make bench`: prints a table of ratios. Names of measurements choose among them: make bench BENCH='proof start'."""

import argparse
import importlib
import sys

from bench.measure import Row, table

# Name of the module and how many rounds; the start takes seconds a round.
MEASUREMENTS = {
    "notation": 21,
    "proof": 21,
    "odds": 11,
    "start": 7,
    "audit": 5,
    "systems": 7,
    "guard": 5,
    "guard_rows": 5,
    "load": 5,
    "parts": 9,
}
WHEN_NAMED = {"guard_rows", "parts"}
"""The first takes minutes, and gigabytes of disk; the second says where the time of a roll goes, against no aim."""


def main() -> int:
    """Run what is asked for; 1 where an aim is missed and `--strict` asks to know."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"some of: {', '.join(MEASUREMENTS)} (default: all but guard_rows and parts)",
    )
    parser.add_argument("--rounds", type=int, help="how often each is measured; the median counts")
    parser.add_argument("--strict", action="store_true", help="exit with 1 where an aim is missed")
    wanted = parser.parse_args()
    unknown = set(wanted.names) - MEASUREMENTS.keys()
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    rows: list[Row] = []
    for name, rounds in MEASUREMENTS.items():
        if name in wanted.names or not (wanted.names or name in WHEN_NAMED):
            rows += importlib.import_module(f"bench.{name}").rows(wanted.rounds or rounds)
    print(table(rows))
    return 1 if wanted.strict and any(row.missed for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
