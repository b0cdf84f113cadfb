"""The second verifier's judgement of a beacon's round: BLS12-381 from its definition, without a library.

Slow and plain. The field, the curves and their encoding are those of the ZCash and IETF pairing drafts, the hash to the
curve is RFC 9380, suite BLS12381G1_XMD:SHA-256_SSWU_RO_ (8.8.1), and the pairing the ate pairing of its textbook form.
Of the 11-isogeny of RFC 9380, E.2, only its kernel stands here, from which Kohel's formulas give all its coefficients.
"""

from __future__ import annotations

from functools import reduce
from hashlib import sha256

P = 0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB
R = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
X = 0xD201000000010000
"""The absolute value of the parameter, which is negative."""

A = 0x144698A3B8E9433D693A02C96D4982B0EA985383EE66A8D8E8981AEFD881AC98936F8DA0E0F97F5CF428082D584C1D
B = 0x12E2908D11688030018B12E8753EEE3B2016C1F0F24F4070A0B9C14FCEF35EF55A23215A316CEAA5D1CC48E98E172BE0
Z = 11
"""y2 = x3 + Ax + B is the curve that hashes are mapped to first."""
KERNEL = (
    0x133341FB0962A34CB0504A9C4FADA0A5090D38679B4C040D5D1C3AFB023A3409FCC0815FEA66D8B02BBEF9C8B5A66E07,
    0x0264908AF037BCEDE00D054CF5D4775E83EB6CF63C76B969F8ED174FB59FCFF78D201F46F6CFC4ED6552E59CE75177B0,
    0x1335C502C1F54C49ACEEA65E87FD7203BA0F626F305FC0CFD606A5DAE9F3C8E81A4B3B69600129FABD307C69BF319D39,
    0x094440F65F408A6E930E16E3E92DD17BF60D6E9679A8D3D58593DE55AC23703042D609537EB3549AAC234D896CA82944,
    0x04AFE09D5CF4956A23B6B71F59D2B3407B415A774B7BE81BBB6FA99CBC798E0AC98BA725A5BC328016B1C268B4766E85,
    1,
)
"""The polynomial whose roots are the x of the isogeny's kernel, lowest power first."""
SCALE = 0x17A3E1BDA8A2D1A38A19241A0EA1E2F25B552D6197903F96BAE690EF6BE6B1381BE22E8A72A9745CD7A1FFFFFFFFB26D
"""What brings the isogeny's other curve to y2 = x3 + 4: x by its square, y by its cube."""

Fq2 = tuple[int, int]
"""a + bu with u2 = -1."""
Fq12 = list[Fq2]
"""Six coefficients of powers of w, with w6 = 1 + u."""
G1 = tuple[int, int] | None
G2 = tuple[Fq2, Fq2] | None
"""Points, None for the identity: of y2 = x3 + 4, and of y2 = x3 + 4(1 + u)."""

ZERO: Fq2 = (0, 0)
ONE: Fq12 = [(1, 0), ZERO, ZERO, ZERO, ZERO, ZERO]
GENERATOR = bytes.fromhex(
    "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e"
    "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8"
)


def plus(a: Fq2, b: Fq2) -> Fq2:
    """Add."""
    return (a[0] + b[0]) % P, (a[1] + b[1]) % P


def minus(a: Fq2, b: Fq2) -> Fq2:
    """Subtract."""
    return (a[0] - b[0]) % P, (a[1] - b[1]) % P


def mul(a: Fq2, b: Fq2) -> Fq2:
    """Multiply."""
    return (a[0] * b[0] - a[1] * b[1]) % P, (a[0] * b[1] + a[1] * b[0]) % P


def over(a: Fq2, b: Fq2) -> Fq2:
    """Divide."""
    norm = pow(b[0] * b[0] + b[1] * b[1], -1, P)
    return mul(a, (b[0] * norm % P, -b[1] * norm % P))


def root(n: int) -> int | None:
    """The square root of a number, if it has one: p = 3 mod 4."""
    found = pow(n, (P + 1) // 4, P)
    return found if (found * found - n) % P == 0 else None


def root2(a: Fq2) -> Fq2 | None:
    """The square root in Fq2, if there is one, for an a that is not a number."""
    norm = root(a[0] * a[0] + a[1] * a[1])
    if norm is None:
        return None
    half = pow(2, -1, P)
    for sign in (norm, -norm):
        real = root((a[0] + sign) * half % P)
        if real:
            found = real, a[1] * half * pow(real, -1, P) % P
            return found if mul(found, found) == a else None
    return None


# Encodings: 48 bytes and 96, the first three bits are flags


def read_g1(text: bytes) -> G1:
    """The point of the prime-order group of 48 bytes; ValueError where there is none."""
    x = int.from_bytes(text, "big") & (1 << 381) - 1
    y = root((x**3 + 4) % P)
    if len(text) != 48 or text[0] >> 6 != 2 or x >= P or y is None:
        raise ValueError("no point")
    point = x, y if (y > P // 2) == bool(text[0] & 0x20) else P - y
    if add(times(R - 1, point), point) is not None:
        raise ValueError("not in the group")
    return point


def read_g2(text: bytes) -> G2:
    """The point of 96 bytes; of keys, which are known, and so is their group."""
    x = int.from_bytes(text[48:], "big"), int.from_bytes(text[:48], "big") & (1 << 381) - 1
    y = root2(plus(mul(mul(x, x), x), (4, 4)))
    if len(text) != 96 or text[0] >> 6 != 2 or y is None:
        raise ValueError("no point")
    return x, y if (y[1] > P // 2) == bool(text[0] & 0x20) else minus(ZERO, y)


# The group of signatures


def add(a: G1, b: G1) -> G1:
    """Add two points."""
    if a is None or b is None:
        return a or b
    if a[0] == b[0] and (a[1] + b[1]) % P == 0:
        return None
    slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, P) if a == b else (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def times(n: int, point: G1) -> G1:
    """Multiply a point."""
    result: G1 = None
    for bit in f"{n:b}":
        result = add(result, result)
        if bit == "1":
            result = add(result, point)
    return result


def hashed(message: bytes, domain: bytes) -> G1:
    """RFC 9380, 3: hash_to_curve."""
    uniform = expanded(message, domain, 128)
    u = [int.from_bytes(uniform[at : at + 64], "big") % P for at in (0, 64)]
    return times(X + 1, add(*(isogeny(*mapped(each)) for each in u)))


def expanded(message: bytes, domain: bytes, size: int) -> bytes:
    """RFC 9380, 5.3.1: expand_message_xmd with SHA-256."""
    tag = domain + bytes([len(domain)])
    first = sha256(bytes(64) + message + size.to_bytes(2, "big") + b"\0" + tag).digest()
    blocks = [sha256(first + b"\1" + tag).digest()]
    for number in range(2, size // 32 + 1):
        mixed = bytes(a ^ b for a, b in zip(first, blocks[-1], strict=True))
        blocks.append(sha256(mixed + bytes([number]) + tag).digest())
    return b"".join(blocks)


def mapped(u: int) -> tuple[int, int]:
    """RFC 9380, 6.6.2: the simplified SWU map."""
    factor = Z * u * u % P
    divisor = (factor * factor + factor) % P
    ratio = 1 + pow(divisor, -1, P) if divisor else -pow(Z, -1, P)
    x = -B * pow(A, -1, P) * ratio % P
    y = root((x**3 + A * x + B) % P)
    if y is None:
        x = factor * x % P
        y = root((x**3 + A * x + B) % P) or 0
    return x, y if y % 2 == u % 2 else -y % P


def isogeny(x: int, y: int) -> tuple[int, int]:
    """Kohel's formulas: with D = h2 of the kernel's h, x -> 11x - p - f' D'/D - 2f (D'/D)', and y by its derivative."""
    h, h1, h2, h3 = (value(derived(KERNEL, order), x) for order in range(4))
    inverse = pow(h, -1, P)
    quotient = 2 * h1 * inverse
    slope = 2 * (h2 * h - h1 * h1) * inverse**2
    bend = 2 * ((h3 * h - h1 * h2) * h - 2 * h1 * (h2 * h - h1 * h1)) * inverse**3
    f, f1 = x**3 + A * x + B, 3 * x * x + A
    roots = -2 * KERNEL[-2]
    image = 11 * x - roots - f1 * quotient - 2 * f * slope
    derivative = 11 - 6 * x * quotient - 3 * f1 * slope - 2 * f * bend
    return image * SCALE**2 % P, y * derivative * SCALE**3 % P


def derived(polynomial: tuple[int, ...], times_over: int) -> tuple[int, ...]:
    """The derivative of a polynomial, so many times over."""
    for _ in range(times_over):
        polynomial = tuple(power * each for power, each in enumerate(polynomial))[1:]
    return polynomial


def value(polynomial: tuple[int, ...], x: int) -> int:
    """Horner."""
    return reduce(lambda so_far, each: (so_far * x + each) % P, reversed(polynomial), 0)


# The pairing


def product(a: Fq12, b: Fq12) -> Fq12:
    """Multiply."""
    real, imaginary = [0] * 11, [0] * 11
    for i, (a0, a1) in enumerate(a):
        if a0 or a1:
            for j, (b0, b1) in enumerate(b):
                real[i + j] += a0 * b0 - a1 * b1
                imaginary[i + j] += a0 * b1 + a1 * b0
    # w6 = 1 + u
    low = [*zip(real[:6], imaginary[:6], strict=True)]
    high = [*zip(real[6:], imaginary[6:], strict=True), (0, 0)]
    return [((r + c - d) % P, (i + c + d) % P) for (r, i), (c, d) in zip(low, high, strict=True)]


def miller(p: G1, q: G2) -> Fq12:
    """The function of q at p, up to what the last power takes away."""
    if p is None or q is None:
        return ONE
    result, (x, y) = ONE, q
    for bit in f"{X:b}"[1:]:
        slope = over(mul((3, 0), mul(x, x)), mul((2, 0), y))
        result = product(product(result, result), line(p, x, y, slope))
        x, y = step(x, y, x, slope)
        if bit == "1":
            slope = over(minus(y, q[1]), minus(x, q[0]))
            result = product(result, line(p, x, y, slope))
            x, y = step(x, y, q[0], slope)
    return result


def step(x: Fq2, y: Fq2, other: Fq2, slope: Fq2) -> tuple[Fq2, Fq2]:
    """The third point on a line, on the other side."""
    third = minus(minus(mul(slope, slope), x), other)
    return third, minus(mul(slope, minus(x, third)), y)


def line(p: tuple[int, int], x: Fq2, y: Fq2, slope: Fq2) -> Fq12:
    """The line through (x/w2, y/w3) at p, times w3, which the last power takes away."""
    return [minus(mul(slope, x), y), ZERO, mul(slope, (-p[0], 0)), (p[1], 0), ZERO, ZERO]


def one_after_the_last_power(f: Fq12) -> bool:
    """Whether f to the (p12 - 1) / r is 1."""
    result = ONE
    for bit in f"{(P**12 - 1) // R:b}":
        result = product(result, result)
        if bit == "1":
            result = product(result, f)
    return result == ONE


def signed(public_key: bytes, message: bytes, signature: bytes, domain: bytes) -> bool:
    """Whether e(signature, g2) = e(H(message), public key)."""
    try:
        point = read_g1(signature)
    except ValueError:
        return False
    x, y = hashed(message, domain) or (0, 0)
    return one_after_the_last_power(
        product(miller(point, read_g2(GENERATOR)), miller((x, -y % P), read_g2(public_key)))
    )
