"""Rolls with the package d20 in the peers' environment: reads one request as a line of JSON, answers with one line.

{"texts": [..], "times": 20, "render": false}: seconds of processor time for one roll of each text.
{"texts": [..], "seeds": 20}: for each text the totals from the generator seeded with 0..19.
It stands alone: that environment has neither fairroll nor this folder's other files.
"""

import json
import random
import sys
from time import process_time

import d20


def seconds(text: str, times: int, render: bool) -> float:  # noqa: FBT001  as it comes in the request
    """Seconds for one roll of `text`, its parsed form in d20's cache; with `render` the Markdown text as well."""
    start = process_time()
    if render:
        for _ in range(times):
            result = d20.roll(text)
            _ = result.total, result.result
    else:
        for _ in range(times):
            _ = d20.roll(text).total
    return (process_time() - start) / times


def total(text: str, seed: int) -> int:
    """The total of `text` from the generator seeded with `seed`."""
    random.seed(seed)
    return int(d20.roll(text).total)


for line in sys.stdin:
    request = json.loads(line)
    answer: list[object]
    if "seeds" in request:
        answer = [[total(text, seed) for seed in range(request["seeds"])] for text in request["texts"]]
    else:
        answer = [seconds(text, request["times"], request["render"]) for text in request["texts"]]
    print(json.dumps(answer), flush=True)
