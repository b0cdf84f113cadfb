"""ECVRF once more, slow and obvious: whole numbers, affine points, RFC 9381 line by line.

It shares nothing with the code under test, not even the library.
"""

from dataclasses import dataclass
from hashlib import sha512

P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
Point = tuple[int, int]
IDENTITY: Point = (0, 1)


def add(a: Point, b: Point) -> Point:
    product = D * a[0] * b[0] * a[1] * b[1] % P
    x = (a[0] * b[1] + a[1] * b[0]) * pow(1 + product, -1, P) % P
    y = (a[1] * b[1] + a[0] * b[0]) * pow(1 - product, -1, P) % P
    return x, y


def times(n: int, point: Point) -> Point:
    result = IDENTITY
    for bit in f"{n:b}":
        result = add(result, result)
        if bit == "1":
            result = add(result, point)
    return result


def negative(point: Point) -> Point:
    return -point[0] % P, point[1]


def encode(point: Point) -> bytes:
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def decode(text: bytes) -> Point | None:
    """RFC 8032, 5.1.3; None where decoding fails."""
    number = int.from_bytes(text, "little")
    y, sign = number % 2**255, number >> 255
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if x * x % P != square or (x == 0 and sign):
        return None
    return (x if x & 1 == sign else P - x), y


BASE_Y = 4 * pow(5, -1, P) % P
BASE = decode(BASE_Y.to_bytes(32, "little")) or IDENTITY


@dataclass(frozen=True)
class Proof:
    """A proof with all that leads to it."""

    x: bytes
    Y: bytes
    counter: int
    H: bytes
    k: bytes
    U: bytes
    V: bytes
    pi: bytes
    beta: bytes


def prove(seed: bytes, alpha: bytes) -> Proof:
    expanded = sha512(seed).digest()
    x = int.from_bytes(expanded[:32], "little") & ~7 & ~(1 << 255) | 1 << 254
    Y = times(x, BASE)
    counter, H = encode_to_curve(encode(Y), alpha)
    Gamma = times(x, H)
    k_string = sha512(expanded[32:] + encode(H)).digest()
    k = int.from_bytes(k_string, "little") % Q
    U, V = times(k, BASE), times(k, H)
    c = challenge(Y, H, Gamma, U, V)
    pi = encode(Gamma) + c.to_bytes(16, "little") + ((k + c * x) % Q).to_bytes(32, "little")
    return Proof(
        x.to_bytes(32, "little"),
        encode(Y),
        counter,
        encode(H),
        k.to_bytes(32, "little"),
        encode(U),
        encode(V),
        pi,
        proof_to_hash(Gamma),
    )


def verify(public_key: bytes, alpha: bytes, pi: bytes) -> bytes | None:
    """Beta, or None where the strict check of protocol section 3 refuses."""
    Y, Gamma = decode(public_key), decode(pi[:32])
    c, s = int.from_bytes(pi[32:48], "little"), int.from_bytes(pi[48:], "little")
    if Y is None or Gamma is None or len(pi) != 80 or c == 0 or not 0 < s < Q:
        return None
    if IDENTITY in (Y, Gamma) or times(Q, Y) != IDENTITY or times(Q, Gamma) != IDENTITY:
        return None
    _, H = encode_to_curve(public_key, alpha)
    U = add(times(s, BASE), negative(times(c, Y)))
    V = add(times(s, H), negative(times(c, Gamma)))
    return proof_to_hash(Gamma) if challenge(Y, H, Gamma, U, V) == c else None


def encode_to_curve(public_key: bytes, alpha: bytes) -> tuple[int, Point]:
    counter = 0
    while True:
        candidate = decode(sha512(b"\3\1" + public_key + alpha + bytes([counter]) + b"\0").digest()[:32])
        if candidate is not None and times(8, candidate) != IDENTITY:
            return counter, times(8, candidate)
        counter += 1


def challenge(*points: Point) -> int:
    digest = sha512(b"\3\2" + b"".join(encode(point) for point in points) + b"\0").digest()
    return int.from_bytes(digest[:16], "little")


def proof_to_hash(Gamma: Point) -> bytes:
    return sha512(b"\3\3" + encode(times(8, Gamma)) + b"\0").digest()
