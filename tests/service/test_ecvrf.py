"""RFC 9381, suite 0x03: the RFC's vectors, a twin, and what strict verification refuses."""

from random import Random
from typing import Any

import pytest

from fairroll import ecvrf
from fairroll.ecvrf import VrfKey, verify
from fairroll.errors import RequestError, Step, VerificationError
from tests.service import ecvrf_twin as twin
from tests.service.vector_files import read_vectors

RFC_VECTORS = read_vectors("rfc9381_tai.json")["vectors"]
TORSION = {name: bytes.fromhex(text) for name, text in read_vectors("rfc9381_torsion.json").items()}
KEY = VrfKey(bytes(range(32)))
ALPHA = b"alpha"
PI, BETA = KEY.prove(ALPHA)
IDENTITY = b"\x01" + bytes(31)
# y = p + 1 is the identity again, in an encoding that is not canonical.
IDENTITY_NOT_CANONICAL = (twin.P + 1).to_bytes(32, "little")
ORDER_TWO = (twin.P - 1).to_bytes(32, "little")


def refused(public_key: bytes, alpha: bytes, pi: bytes) -> str:
    """The reason for which verification refuses."""
    with pytest.raises(VerificationError) as caught:
        verify(public_key, alpha, pi)
    assert caught.value.step is Step.VRF
    return caught.value.reason


@pytest.mark.parametrize("vector", RFC_VECTORS, ids=lambda vector: f"example-{vector['example']}")
def test_rfc_9381_vectors_hold_for_the_code_and_for_the_twin(vector: dict[str, Any]) -> None:
    seed, alpha = bytes.fromhex(vector["sk"]), bytes.fromhex(vector["alpha"])
    key = VrfKey(seed)
    pi, beta = key.prove(alpha)
    assert key.public_key.hex() == vector["pk"]
    assert ecvrf._encode_to_curve(key.public_key, alpha).hex() == vector["H"]
    assert (pi.hex(), beta.hex()) == (vector["pi"], vector["beta"])
    assert verify(key.public_key, alpha, pi) == beta
    slow = twin.prove(seed, alpha)
    assert slow.counter == vector["ctr"]
    assert {name: getattr(slow, name).hex() for name in ("x", "H", "k", "U", "V", "pi", "beta")} == {
        name: vector[name] for name in ("x", "H", "k", "U", "V", "pi", "beta")
    }


@pytest.mark.parametrize("number", range(12))
def test_code_and_twin_agree_on_random_keys_and_inputs(number: int) -> None:
    random = Random(number)
    seed, alpha = random.randbytes(32), random.randbytes(random.randrange(120))
    key, slow = VrfKey(seed), twin.prove(seed, alpha)
    assert (key.public_key, *key.prove(alpha)) == (slow.Y, slow.pi, slow.beta)
    assert verify(slow.Y, alpha, slow.pi) == slow.beta == twin.verify(slow.Y, alpha, slow.pi)


def test_code_and_twin_agree_on_which_tries_are_passed_over() -> None:
    counters = set()
    for number in range(24):
        counter, point = twin.encode_to_curve(KEY.public_key, bytes([number]))
        assert ecvrf._encode_to_curve(KEY.public_key, bytes([number])) == twin.encode(point)
        counters.add(counter)
    assert len(counters) > 2


@pytest.mark.parametrize(
    ("encoding", "canonical"),
    [
        (0, True),
        (1, True),
        (twin.P - 1, True),
        (twin.P, False),
        (twin.P + 1, False),
        (2**255 - 1, False),
        (1 | 1 << 255, False),
        (twin.P - 1 | 1 << 255, False),
        (2 | 1 << 255, True),
    ],
)
def test_a_try_is_canonical_if_y_is_below_p_and_x_of_zero_has_no_sign(encoding: int, canonical: bool) -> None:
    assert ecvrf._is_canonical(encoding.to_bytes(32, "little")) is canonical


def test_a_try_of_small_order_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = iter((ORDER_TWO, IDENTITY, IDENTITY_NOT_CANONICAL, KEY.public_key))

    class Digest:
        def digest(self) -> bytes:
            return next(tries) + bytes(32)

    monkeypatch.setattr(ecvrf, "sha512", lambda message: Digest())
    assert ecvrf._encode_to_curve(KEY.public_key, ALPHA) == ecvrf._times_eight(KEY.public_key)


def test_an_input_without_a_point_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ecvrf, "_is_canonical", lambda encoding: False)
    with pytest.raises(RequestError):
        KEY.prove(ALPHA)
    assert refused(KEY.public_key, ALPHA, PI) == "PROOF_INVALID"


def test_an_honest_proof_verifies_and_so_does_one_with_another_nonce() -> None:
    # The nonce is the prover's own; beta stays the same, which is what counts.
    for name in ("honest_pi", "pi_other_nonce"):
        assert verify(TORSION["pk"], TORSION["alpha"], TORSION[name]) == TORSION["beta"]


@pytest.mark.parametrize("name", ["pi_T2", "pi_T4", "pi_T8"])
def test_a_proof_with_a_torsion_part_is_refused(name: str) -> None:
    assert refused(TORSION["pk"], TORSION["alpha"], TORSION[name]) == "PROOF_POINT_INVALID"
    assert twin.verify(TORSION["pk"], TORSION["alpha"], TORSION[name]) is None


def test_every_flipped_bit_of_a_proof_is_refused() -> None:
    for bit in range(len(PI) * 8):
        flipped = (int.from_bytes(PI, "little") ^ 1 << bit).to_bytes(len(PI), "little")
        refused(KEY.public_key, ALPHA, flipped)


@pytest.mark.parametrize(
    ("pi", "reason"),
    [
        (PI[:-1], "PROOF_LENGTH"),
        (PI + b"\0", "PROOF_LENGTH"),
        (b"", "PROOF_LENGTH"),
        (IDENTITY + PI[32:], "PROOF_POINT_INVALID"),
        (IDENTITY_NOT_CANONICAL + PI[32:], "PROOF_POINT_INVALID"),
        (ORDER_TWO + PI[32:], "PROOF_POINT_INVALID"),
        (bytes([2]) + bytes(31) + PI[32:], "PROOF_POINT_INVALID"),
        (PI[:32] + bytes(16) + PI[48:], "PROOF_SCALAR_INVALID"),
        (PI[:48] + bytes(32), "PROOF_SCALAR_INVALID"),
        (PI[:48] + twin.Q.to_bytes(32, "little"), "PROOF_SCALAR_INVALID"),
        (PI[:48] + (int.from_bytes(PI[48:], "little") + twin.Q).to_bytes(32, "little"), "PROOF_SCALAR_INVALID"),
        (PI[:48] + b"\xff" * 32, "PROOF_SCALAR_INVALID"),
        (PI[:48] + (twin.Q - 1).to_bytes(32, "little"), "PROOF_INVALID"),
    ],
)
def test_a_malformed_proof_is_refused(pi: bytes, reason: str) -> None:
    assert refused(KEY.public_key, ALPHA, pi) == reason


@pytest.mark.parametrize(
    "public_key", [b"", KEY.public_key[:-1], IDENTITY, IDENTITY_NOT_CANONICAL, ORDER_TWO, TORSION["pi_T2"][:32]]
)
def test_a_key_outside_the_prime_order_subgroup_is_refused(public_key: bytes) -> None:
    assert refused(public_key, ALPHA, PI) == "VRF_KEY_INVALID"


def test_a_proof_for_another_input_or_key_is_refused() -> None:
    assert refused(KEY.public_key, ALPHA + b"\0", PI) == "PROOF_INVALID"
    assert refused(VrfKey(bytes(32)).public_key, ALPHA, PI) == "PROOF_INVALID"


def test_proving_twice_gives_the_same_bytes() -> None:
    assert KEY.prove(ALPHA) == (PI, BETA) == VrfKey(bytes(range(32))).prove(ALPHA)


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_a_seed_has_32_bytes(size: int) -> None:
    with pytest.raises(RequestError):
        VrfKey(bytes(size))
