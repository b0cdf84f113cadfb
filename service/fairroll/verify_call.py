"""VerifyReceipt: the offline verifier as a call, for those who cannot run it."""

from __future__ import annotations

from fairroll.bundle import Bundle, read_bundle
from fairroll.envelope import Envelope
from fairroll.errors import RequestError, VerificationError
from fairroll.key_list import verify_key_list
from fairroll.keys import ServiceKeys
from fairroll.signer import PUBLIC_KEY_BYTES
from fairroll.v1 import service_pb2
from fairroll.verify import STEP_NAMES, StepTaken, verification

_RESULTS = {True: service_pb2.STEP_RESULT_HELD, False: service_pb2.STEP_RESULT_NOT_CHECKED}


def verify_receipt(request: service_pb2.VerifyReceiptRequest, keys: ServiceKeys) -> service_pb2.VerifyReceiptResponse:
    """Verify a receipt; one that fails is an answer.

    Args:
        request: the bundle, and a root key where it is not this service's.
        keys: the service's own, used for what the request leaves out.

    Raises:
        RequestError: there is no receipt in the request, or the root key is none.
    """
    if request.root_key and len(request.root_key) != PUBLIC_KEY_BYTES:
        raise RequestError(
            "KEY_LENGTH",
            f"a public key has {PUBLIC_KEY_BYTES} bytes",
            field="root_key",
            value=str(len(request.root_key)),
        )
    root_key = request.root_key or keys.root_public_key
    given = read_bundle(request.bundle)
    bundle = Bundle(given.envelope, given.chain, _key_list(given.key_list, root_key, keys))
    taken: list[StepTaken] = []
    taking = verification(bundle, root_key)
    response = service_pb2.VerifyReceiptResponse(digest=bundle.envelope.digest)
    try:
        while True:
            taken.append(next(taking))
    except StopIteration as end:
        verified = end.value
        response.verified = verified.complete
        response.level = verified.level if verified.complete else ""
        response.rests_on.extend(verified.rests_on)
        response.record.CopyFrom(verified.record)
        response.texts.extend(verified.texts)
        response.steps.extend(_step_message(step) for step in taken)
    except VerificationError as error:
        response.steps.extend(_step_message(step) for step in taken)
        response.steps.append(_failed_message(error))
    return response


def _key_list(given: Envelope | None, root_key: bytes, keys: ServiceKeys) -> Envelope:
    """Return the list to judge by: the service's own where none is given, or where it is the newer one."""
    if given is None:
        return keys.envelope
    if root_key == keys.root_public_key:
        try:
            shown = verify_key_list(given, root_key)
        except VerificationError:
            return given  # step 0 says why it is refused
        if shown.origin == keys.origin and shown.list_version < keys.key_list.list_version:
            return keys.envelope
    return given


def _step_message(step: StepTaken) -> service_pb2.VerifyStep:
    return service_pb2.VerifyStep(number=step.step, name=step.name, result=_RESULTS[step.held], detail=step.detail)


def _failed_message(error: VerificationError) -> service_pb2.VerifyStep:
    where = f" at {error.field}" if error.field else ""
    return service_pb2.VerifyStep(
        number=error.step,
        name=STEP_NAMES[error.step],
        result=service_pb2.STEP_RESULT_FAILED,
        detail=f"{error.reason}{where}: {error.message}",
    )
