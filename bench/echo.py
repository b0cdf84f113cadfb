"""What does nothing but answer, on the loop and the stack that the service uses: the floor of a call.

    python -m bench.echo grpc|signed|rest BYTES_OF_AN_ANSWER

gRPC: grpc.aio as generated code uses it, a request decoded and an answer of that size built and encoded per call.
Signed: the same, and for each call a proof and a signature as a roll has them, thrown away.
REST: FastAPI and uvicorn, the body read and an answer of that size sent. Prints its address on stdout.
"""

import asyncio
import sys
from collections.abc import Callable

import uvloop


async def _grpc(size: int, work: Callable[[], None] = lambda: None) -> None:
    import grpc

    from bench.generators import ROLL
    from fairroll.v1 import envelope_pb2, roll_pb2

    async def echo(request: roll_pb2.RollRequest, _context: object) -> roll_pb2.RollResponse:
        assert request.checks
        work()
        return roll_pb2.RollResponse(envelope=envelope_pb2.Envelope(payload=bytes(size)))

    # As generated code does it.
    handler = grpc.unary_unary_rpc_method_handler(
        echo, roll_pb2.RollRequest.FromString, roll_pb2.RollResponse.SerializeToString
    )
    _, service, method = ROLL.split("/")
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


async def _signed(size: int) -> None:
    from bench.load import prove_and_sign

    await _grpc(size, prove_and_sign(size))


async def _rest(size: int) -> None:
    import socket

    import uvicorn
    from fastapi import FastAPI, Request, Response

    app = FastAPI(openapi_url=None)
    answer = b'"' + b"a" * (size - 2) + b'"'

    @app.post("/v1/rolls")
    async def echo(request: Request) -> Response:
        assert await request.body()
        return Response(answer, media_type="application/json")

    listening = socket.create_server(("127.0.0.1", 0))
    print(f"127.0.0.1:{listening.getsockname()[1]}", flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, ws="none")).serve(sockets=[listening])


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run({"grpc": _grpc, "signed": _signed, "rest": _rest}[sys.argv[1]](int(sys.argv[2])))
