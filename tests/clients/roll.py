"""Rolls over gRPC with grpcio: python roll.py 127.0.0.1:50051. With API keys: FAIRROLL_API_KEY=... Prints JSON."""

import base64
import json
import os
import sys
from typing import cast

import grpc
from google.rpc import error_details_pb2, status_pb2

from fairroll.v1.notation_pb2 import NotationCheck
from fairroll.v1.roll_pb2 import Check, RollRequest
from fairroll.v1.service_pb2 import StreamRollsRequest
from fairroll.v1.service_pb2_grpc import RollServiceStub

API_KEY = os.environ.get("FAIRROLL_API_KEY", "")
METADATA = (("x-api-key", API_KEY),) if API_KEY else ()
SECONDS = 10


def asked(text: str, request_id: str = "") -> RollRequest:
    """Return a request for one roll of notation."""
    return RollRequest(checks=[Check(notation=NotationCheck(text=text))], request_id=request_id)


def read(call: grpc.Call) -> dict[str, object]:
    """Return what a refused call says beside its code: google.rpc.Status stands in the trailers."""
    trailers = {key: value for key, value in call.trailing_metadata() if isinstance(value, bytes)}
    status = status_pb2.Status.FromString(trailers["grpc-status-details-bin"])
    found: dict[str, object] = {"code": call.code().name}
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status.details:
        if detail.Unpack(info):
            found["reason"] = info.reason
        elif detail.Unpack(bad):
            found["fields"] = [each.field for each in bad.field_violations]
    return found


def main() -> None:
    """Roll once, be refused once, and roll over a stream."""
    with grpc.insecure_channel(sys.argv[1]) as channel:
        stub = RollServiceStub(channel)
        answer = stub.Roll(asked("4d6kh3", "four clients"), timeout=SECONDS, metadata=METADATA)
        refused: dict[str, object] = {}
        try:
            stub.Roll(asked("4d"), timeout=SECONDS, metadata=METADATA)
        except grpc.RpcError as error:
            refused = read(cast("grpc.Call", error))  # an error of a call is one, which its type does not say
        items = [
            StreamRollsRequest(item_id=str(index), request=asked(text))
            for index, text in enumerate(("1d20", "1d", "2d6+3"))
        ]
        streamed = [
            {"id": each.item_id, "kind": each.WhichOneof("answer")}
            for each in stub.StreamRolls(iter(items), timeout=SECONDS, metadata=METADATA)
        ]
    done = {
        "payload": base64.b64encode(answer.envelope.payload).decode(),
        "signature": base64.b64encode(answer.envelope.signatures[0].sig).decode(),
        "total": answer.record.outcomes[0].notation.total,
        "refused": refused,
        "streamed": streamed,
    }
    print(json.dumps(done))  # noqa: T201  that is what it is for


if __name__ == "__main__":
    main()
