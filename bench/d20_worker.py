"""Times the package d20 in the peers' environment: reads one request as a line of JSON, answers with one line.

Request: {"texts": [..], "times": 20, "render": false}. Answer: seconds of processor time for one roll of each text.
It stands alone: that environment has neither fairroll nor this folder's other files.
"""

import json
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


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps([seconds(text, request["times"], request["render"]) for text in request["texts"]]), flush=True)
