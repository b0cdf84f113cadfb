"""Proving, signing and verifying against the bare libsodium calls that none of them can do without."""

from collections.abc import Iterator
from itertools import count

from nacl.bindings import (
    crypto_scalarmult_ed25519_base_noclamp,
    crypto_scalarmult_ed25519_noclamp,
    crypto_sign,
    crypto_sign_open,
    crypto_sign_seed_keypair,
)

from bench.measure import Row, cpu, in_turns
from fairroll import ecvrf, signer

SEED = bytes(range(32))
SCALAR = bytes(range(1, 32)) + b"\x05"  # below the group order
MESSAGE = bytes(600)  # the size of a small record
TIMES = 50


def _alphas() -> Iterator[bytes]:
    # Another one each time: how many tries a point needs depends on alpha, two on average.
    return (b"fairroll/v1/alpha\x00" + bytes(32) + number.to_bytes(8, "big") + bytes(32) for number in count())


def rows(rounds: int) -> list[Row]:
    """What proof and signature cost."""
    vrf_key, signing_key = ecvrf.VrfKey(SEED), signer.SigningKey(SEED)
    public, secret = crypto_sign_seed_keypair(SEED)
    point, alphas = vrf_key.public_key, _alphas()
    signature, signed = signing_key.sign(MESSAGE), crypto_sign(MESSAGE, secret)
    proofs = [(alpha, vrf_key.prove(alpha)[0]) for alpha, _ in zip(_alphas(), range(TIMES), strict=False)]

    def multiply(variable: int) -> None:
        crypto_scalarmult_ed25519_base_noclamp(SCALAR)
        for _ in range(variable):
            crypto_scalarmult_ed25519_noclamp(SCALAR, point)

    def verify_all() -> None:
        for alpha, proof in proofs:
            ecvrf.verify(point, alpha, proof)

    verify_all_timed = cpu(verify_all)
    took = in_turns(
        {
            "prove": cpu(lambda: vrf_key.prove(next(alphas)), TIMES),
            "multiply 3": cpu(lambda: multiply(2), TIMES),
            "verify proof": lambda: verify_all_timed() / len(proofs),
            "multiply 4": cpu(lambda: multiply(3), TIMES),
            "sign": cpu(lambda: signing_key.sign(MESSAGE), TIMES),
            "crypto_sign": cpu(lambda: crypto_sign(MESSAGE, secret), TIMES),
            "verify signature": cpu(lambda: signer.verify(public, MESSAGE, signature), TIMES),
            "crypto_sign_open": cpu(lambda: crypto_sign_open(signed, public), TIMES),
        },
        rounds,
    )
    return [
        Row("prove", took["prove"], "libsodium: its 3 scalar multiplications", took["multiply 3"]),
        Row("verify a proof", took["verify proof"], "libsodium: its 4 scalar multiplications", took["multiply 4"]),
        Row("sign 600 B", took["sign"], "libsodium: crypto_sign", took["crypto_sign"]),
        Row("verify a signature", took["verify signature"], "libsodium: crypto_sign_open", took["crypto_sign_open"]),
    ]
