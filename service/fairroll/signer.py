"""Ed25519 signatures (RFC 8032), as libsodium makes and checks them.

libsodium's check is strict: s < q, no key or R of small order, canonical encodings.
"""

from nacl import exceptions
from nacl.bindings import crypto_sign, crypto_sign_open, crypto_sign_seed_keypair

from fairroll.errors import RequestError, Step, VerificationError

SEED_BYTES = 32
PUBLIC_KEY_BYTES = 32
SIGNATURE_BYTES = 64


class SigningKey:
    """An Ed25519 key that signs.

    Attributes:
        public_key: 32 bytes.
    """

    __slots__ = ("_secret_key", "public_key")

    def __init__(self, seed: bytes) -> None:
        """Derive the key from its seed (RFC 8032, 5.1.5).

        Args:
            seed: 32 secret random bytes, shared with no other key.

        Raises:
            RequestError: the seed is not 32 bytes.
        """
        if len(seed) != SEED_BYTES:
            raise RequestError("SEED_LENGTH", "a signing seed has 32 bytes")
        self.public_key, self._secret_key = crypto_sign_seed_keypair(seed)

    def sign(self, message: bytes) -> bytes:
        """Return the signature, 64 bytes, always the same for the same message."""
        return crypto_sign(message, self._secret_key)[:SIGNATURE_BYTES]


def verify(public_key: bytes, message: bytes, signature: bytes, step: Step = Step.SIGNATURE) -> None:
    """Return if the signature is the key's over the message (RFC 8032, 5.1.7).

    Args:
        public_key: 32 bytes.
        message: the bytes that were signed.
        signature: 64 bytes.
        step: the step of protocol section 6 that the caller is in.

    Raises:
        VerificationError: at that step; a length or the signature is wrong.
    """
    # The binding takes signature and message as one, so lengths must be exact first.
    if len(public_key) != PUBLIC_KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        raise VerificationError(step, "SIGNATURE_LENGTH", "a key has 32 bytes and a signature 64")
    try:
        crypto_sign_open(signature + message, public_key)
    except exceptions.BadSignatureError as error:
        raise VerificationError(step, "SIGNATURE_INVALID", "the signature is not the key's over these bytes") from error
