"""The signed envelope: DSSE v1 with one Ed25519 signature (protocol section 5).

https://github.com/secure-systems-lab/dsse. What is signed is
`PAE(type, payload) = "DSSEv1" SP len(type) SP type SP len(payload) SP payload`,
lengths in bytes, decimal. Nothing here knows what a payload means, and nothing
serialises one again. As JSON:

    {"payload":"aGVsbG8=","payloadType":"text/plain","signatures":[{"keyid":"rAkk..","sig":"ACRL.."}]}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from fairroll import signer, strict_json
from fairroll.errors import Step, VerificationError

ROLL_RECORD_TYPE = "application/vnd.fairroll.roll-record.v1+protobuf"
_FIELDS = ("payload", "payloadType", "signatures")
KEY_LIST_TYPE = "application/vnd.fairroll.key-list.v1+json"


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature of an envelope.

    Attributes:
        keyid: which key to try: a hint that nothing signs, never a reason to trust.
        sig: over PAE(payload_type, payload), 64 bytes where it verifies.
    """

    keyid: str
    sig: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """A payload, the string that says how to read it, and who signed both."""

    payload: bytes
    payload_type: str
    signatures: tuple[Signature, ...]

    @property
    def digest(self) -> str:
        """What other records call this one: SHA-256 of the PAE, 64 hex digits.

        It does not cover the signatures: a signature made again is the same receipt.
        """
        return sha256(pae(self.payload_type, self.payload)).hexdigest()


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return the bytes that are signed: DSSE's pre-authentication encoding."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign_envelope(payload_type: str, payload: bytes, keyid: str, key: signer.SigningKey) -> Envelope:
    """Sign the payload once, as these bytes."""
    return Envelope(payload, payload_type, (Signature(keyid, key.sign(pae(payload_type, payload))),))


def verify_envelope(
    envelope: Envelope,
    payload_type: str,
    keys: Mapping[str, bytes],
    step: Step = Step.SIGNATURE,
) -> str:
    """Return the id of the key that signed the envelope.

    Args:
        envelope: what claims to be signed.
        payload_type: the only type that the caller reads.
        keys: key id to Ed25519 public key: the keys that may sign this type.
        step: the step of protocol section 6 that the caller is in.

    Raises:
        VerificationError: at that step; another type, not exactly one signature, a key
            that is not among `keys`, or a signature that is not the key's.
    """
    if envelope.payload_type != payload_type:
        raise VerificationError(
            step,
            "PAYLOAD_TYPE",
            f"the payload type is not {payload_type}",
            field="payloadType",
            value=envelope.payload_type,
        )
    if len(envelope.signatures) != 1:
        raise VerificationError(
            step,
            "SIGNATURE_COUNT",
            "the envelope has not exactly one signature",
            field="signatures",
            value=str(len(envelope.signatures)),
        )
    keyid, sig = envelope.signatures[0].keyid, envelope.signatures[0].sig
    if keyid not in keys:
        raise VerificationError(
            step,
            "UNKNOWN_KEY",
            "no key of this use has the signature's key id",
            field="signatures[0].keyid",
            value=keyid,
        )
    signer.verify(keys[keyid], pae(envelope.payload_type, envelope.payload), sig, step)
    return keyid


def parse_envelope(text: bytes) -> Envelope:
    """Read DSSE's JSON.

    Stricter than DSSE: standard base64 only, a key id beside every signature, no other
    field, no duplicate key.

    Raises:
        RequestError: anything else; `field` says where.
    """
    return envelope_of(strict_json.parse(text))


def envelope_of(value: object, where: str = "envelope") -> Envelope:
    """Read an envelope out of parsed JSON, as `parse_envelope` does."""
    parts = strict_json.members(value, _FIELDS, where)
    signatures = strict_json.items(parts["signatures"], f"{where}.signatures")
    return Envelope(
        strict_json.base64(parts["payload"], f"{where}.payload"),
        strict_json.string(parts["payloadType"], f"{where}.payloadType"),
        tuple(_signature_of(item, f"{where}.signatures[{index}]") for index, item in enumerate(signatures)),
    )


def format_envelope(envelope: Envelope) -> bytes:
    """Write DSSE's JSON, without white space."""
    return strict_json.to_text(envelope_json(envelope))


def envelope_json(envelope: Envelope) -> dict[str, object]:
    """Return DSSE's JSON as Python values, to stand inside other JSON."""
    return {
        "payload": strict_json.to_base64(envelope.payload),
        "payloadType": envelope.payload_type,
        "signatures": [
            {"keyid": signature.keyid, "sig": strict_json.to_base64(signature.sig)} for signature in envelope.signatures
        ],
    }


def _signature_of(value: object, where: str) -> Signature:
    parts = strict_json.members(value, ("keyid", "sig"), where)
    return Signature(
        strict_json.string(parts["keyid"], f"{where}.keyid"), strict_json.base64(parts["sig"], f"{where}.sig")
    )
