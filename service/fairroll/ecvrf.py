"""ECVRF-EDWARDS25519-SHA512-TAI: RFC 9381, suite 0x03, with strict verification.

For one key and one alpha there is exactly one beta, and pi proves it. Names follow
the RFC: Y public key, x secret scalar, H the curve point of alpha, B the base point,
k the nonce, (c, s) challenge and response. libsodium does the arithmetic, secret
scalars included, in constant time.

Strict (protocol section 3): where the RFC leaves room, a proof is refused unless it
is the canonical encoding of points in the prime-order subgroup, so that a proof with
a torsion part, which would have another pi for the same beta, does not verify.
"""

from hashlib import sha512

from nacl import exceptions
from nacl.bindings import (
    crypto_core_ed25519_add,
    crypto_core_ed25519_is_valid_point,
    crypto_core_ed25519_scalar_add,
    crypto_core_ed25519_scalar_mul,
    crypto_core_ed25519_scalar_reduce,
    crypto_core_ed25519_sub,
    crypto_scalarmult_ed25519_base_noclamp,
    crypto_scalarmult_ed25519_noclamp,
)

from fairroll.errors import RequestError, Step, VerificationError

SEED_BYTES = 32
PUBLIC_KEY_BYTES = 32
PROOF_BYTES = 80
BETA_BYTES = 64

_SUITE = b"\x03"
_ENCODE_FRONT, _CHALLENGE_FRONT, _BETA_FRONT, _BACK = b"\x01", b"\x02", b"\x03", b"\x00"
_FIELD_PRIME = 2**255 - 19
_GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
_HIGH_ZEROS = bytes(32)  # widens 32 bytes to the 64 that libsodium reduces
_IDENTITY = b"\x01" + bytes(31)
_CHALLENGE_BYTES = 16
_CHALLENGE_ZEROS = bytes(16)


class VrfKey:
    """A VRF key: what is secret is derived once, because proving is the hot path.

    Attributes:
        public_key: Y, 32 bytes.
    """

    __slots__ = ("_nonce_prefix", "_secret_scalar", "public_key")

    def __init__(self, seed: bytes) -> None:
        """Derive the key from its seed as Ed25519 does (RFC 8032, 5.1.5).

        Args:
            seed: 32 secret random bytes, shared with no other key.

        Raises:
            RequestError: the seed is not 32 bytes.
        """
        if len(seed) != SEED_BYTES:
            raise RequestError("SEED_LENGTH", "a VRF seed has 32 bytes")
        expanded = bytearray(sha512(seed).digest())
        expanded[0] &= 248
        expanded[31] = expanded[31] & 127 | 64
        # Reduced mod q, x gives the same multiple of every prime-order point.
        self._secret_scalar = _reduce(bytes(expanded[:32]) + _HIGH_ZEROS)
        self._nonce_prefix = bytes(expanded[32:])
        self.public_key = crypto_scalarmult_ed25519_base_noclamp(self._secret_scalar)

    def prove(self, alpha: bytes) -> tuple[bytes, bytes]:
        """Return (pi, beta), 80 and 64 bytes, for alpha (RFC 9381, 5.1 and 5.2).

        Always the same for the same alpha: the nonce is derived (5.4.2.2).

        Raises:
            RequestError: no try gives a point; chance 2^-256.
        """
        h = _encode_to_curve(self.public_key, alpha)
        gamma = crypto_scalarmult_ed25519_noclamp(self._secret_scalar, h)
        k = _reduce(sha512(self._nonce_prefix + h).digest())
        u = crypto_scalarmult_ed25519_base_noclamp(k)
        v = crypto_scalarmult_ed25519_noclamp(k, h)
        c = _challenge(self.public_key, h, gamma, u, v)
        product = crypto_core_ed25519_scalar_mul(c + _CHALLENGE_ZEROS, self._secret_scalar)
        s = crypto_core_ed25519_scalar_add(k, product)
        return gamma + c + s, _beta(gamma)


def verify(public_key: bytes, alpha: bytes, pi: bytes) -> bytes:
    """Return the one beta that pi proves for alpha under the key (RFC 9381, 5.3).

    Strict: key and Gamma canonical, in the prime-order subgroup, not the identity;
    s < q; c and s not zero.

    Args:
        public_key: Y, 32 bytes.
        alpha: the VRF input.
        pi: Gamma[32] | c[16] | s[32], s little-endian.

    Raises:
        VerificationError: at step VRF; the key or the proof is refused.
    """
    if not _is_prime_order_point(public_key):
        raise _refused("VRF_KEY_INVALID", "the VRF key is not a valid point")
    if len(pi) != PROOF_BYTES:
        raise _refused("PROOF_LENGTH", "a proof has 80 bytes")
    gamma, c, s = pi[:32], pi[32:48], pi[48:]
    if not _is_prime_order_point(gamma):
        raise _refused("PROOF_POINT_INVALID", "Gamma is not a valid point")
    if c == _CHALLENGE_ZEROS or not 0 < int.from_bytes(s, "little") < _GROUP_ORDER:
        raise _refused("PROOF_SCALAR_INVALID", "c or s is zero, or s is not below q")
    wide_c = c + _CHALLENGE_ZEROS
    try:
        h = _encode_to_curve(public_key, alpha)
        u = crypto_core_ed25519_sub(
            crypto_scalarmult_ed25519_base_noclamp(s),
            crypto_scalarmult_ed25519_noclamp(wide_c, public_key),
        )
        v = crypto_core_ed25519_sub(
            crypto_scalarmult_ed25519_noclamp(s, h),
            crypto_scalarmult_ed25519_noclamp(wide_c, gamma),
        )
    except (exceptions.RuntimeError, RequestError) as error:
        raise _refused("PROOF_INVALID", "the proof is not for this input") from error
    if _challenge(public_key, h, gamma, u, v) != c:
        raise _refused("PROOF_INVALID", "the proof is not for this key and input")
    return _beta(gamma)


def _encode_to_curve(public_key: bytes, alpha: bytes) -> bytes:
    """H = 8 * (the first try that encodes a point), RFC 9381, 5.4.1.1."""
    front = _SUITE + _ENCODE_FRONT + public_key + alpha
    for counter in range(256):
        candidate = sha512(front + bytes((counter,)) + _BACK).digest()[:32]
        if not _is_canonical(candidate):
            continue
        try:
            h = _times_eight(candidate)
        except exceptions.RuntimeError:  # not on the curve
            continue
        # A try of small order gives the identity, which the RFC passes over.
        if h != _IDENTITY:
            return h
    raise RequestError("NO_CURVE_POINT", "256 tries gave no point for this input")


def _is_canonical(encoding: bytes) -> bool:
    """Whether RFC 8032, 5.1.3 would decode it as far as y < p and the sign go.

    libsodium's addition reduces y and forgives a sign on x = 0; the RFC does not.
    """
    number = int.from_bytes(encoding, "little")
    y, sign = number & (2**255 - 1), number >> 255
    return y < _FIELD_PRIME and not (sign and y in (1, _FIELD_PRIME - 1))


def _is_prime_order_point(encoding: bytes) -> bool:
    """Whether it is canonical, in the prime-order subgroup and not the identity."""
    return len(encoding) == PUBLIC_KEY_BYTES and crypto_core_ed25519_is_valid_point(encoding)


def _times_eight(point: bytes) -> bytes:
    """Clear the cofactor. Raises the binding's RuntimeError when not on the curve."""
    double = crypto_core_ed25519_add(point, point)
    quadruple = crypto_core_ed25519_add(double, double)
    return crypto_core_ed25519_add(quadruple, quadruple)


def _challenge(*points: bytes) -> bytes:
    """Hash Y, H, Gamma, U and V to c: 16 bytes, RFC 9381, 5.4.3."""
    digest = sha512(_SUITE + _CHALLENGE_FRONT + b"".join(points) + _BACK).digest()
    return digest[:_CHALLENGE_BYTES]


def _beta(gamma: bytes) -> bytes:
    """Beta of a Gamma in the prime-order subgroup, RFC 9381, 5.2."""
    return sha512(_SUITE + _BETA_FRONT + _times_eight(gamma) + _BACK).digest()


def _reduce(wide: bytes) -> bytes:
    """64 little-endian bytes mod q, as 32."""
    return crypto_core_ed25519_scalar_reduce(wide)


def _refused(reason: str, message: str) -> VerificationError:
    """Build the one error of this module's verification."""
    return VerificationError(Step.VRF, reason, message, field="proof")
