"""Bytes that once were requests: random ones of the contract, damaged in random ways. One seed, one sequence."""

from collections.abc import Iterator
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from fairroll.v1.notation_pb2 import NotationCheck
from fairroll.v1.odds_pb2 import GetOddsRequest
from fairroll.v1.roll_pb2 import Check, RollRequest
from fairroll.v1.service_pb2 import StreamRollsRequest
from tests.service.sample_checks import SAMPLES

TEXTS = ("4d6kh3", "1d20+5", "2d6!>4", "d%", "", "(((((((1)))))))", "9" * 60, "1d", "\x00", "ß≠\U0001f3b2", "x" * 300)
MUCH_WORK = (
    "1000d6!", "60d6!kh20", "40d20kh9+30d12", "12d6u", "{20d6!,20d6!,20d8!}kh2", "100x{10d20!>1}", "4d1000kh2",
    "(1d100)d(1d100)", "6d10!dh3", "{1d20!,1d12!}kh1*{1d20!,1d12!}kl1", "1d1000000", "200d6",
)  # fmt: skip
NUMBERS = (0, 1, 2, 3, 6, 20, 100, 1000, 2**31 - 1)
DEPTH = 6


def filled(random: Random, message: Message, share: float, depth: int = DEPTH) -> Message:
    """Set about this share of a message's fields, and of those inside it, to values likely and unlikely."""
    for field in message.DESCRIPTOR.fields:
        if random.random() < share and not (field.message_type and depth == 0):
            _fill(random, message, field, share, depth)
    return message


def _fill(random: Random, message: Message, field: Any, share: float, depth: int) -> None:  # noqa: ANN401  two classes of descriptors, one of them private
    content: Any = getattr(message, field.name)
    for _ in range(random.choice((1, 1, 1, 2, 5)) if field.is_repeated else 1):
        if field.message_type is None:
            value = _scalar(random, field)
            if field.is_repeated:
                content.append(value)
            else:
                setattr(message, field.name, value)
        elif field.is_repeated:
            filled(random, content.add(), share, depth - 1)
        else:
            content.SetInParent()
            filled(random, content, share, depth - 1)


def _scalar(random: Random, field: Any) -> object:  # noqa: ANN401  as above
    if field.enum_type is not None:
        return random.choice([*field.enum_type.values_by_number, 77])
    if field.type == FieldDescriptor.TYPE_BYTES:
        return random.randbytes(random.choice((0, 1, 32, 32, 64, 96)))
    if field.type == FieldDescriptor.TYPE_STRING:
        return random.choice(TEXTS)
    if field.type == FieldDescriptor.TYPE_BOOL:
        return random.random() < 0.5
    return random.choice(NUMBERS)


def damaged(random: Random, body: bytes) -> bytes:
    """Change bytes in one to four ways."""
    changed = bytearray(body)
    for _ in range(random.choice((1, 1, 2, 4))):
        if not changed:
            break
        start = random.randrange(len(changed))
        end = min(len(changed), start + random.choice((1, 1, 2, 8, 40)))
        match random.randrange(5):
            case 0:
                changed[start] ^= 1 << random.randrange(8)
            case 1:
                del changed[start:end]
            case 2:
                changed[start:start] = random.randbytes(end - start)
            case 3:
                changed[start:start] = changed[start:end]
            case _:
                del changed[start:]
    return bytes(changed)


def plausible(random: Random) -> RollRequest:
    """Return a one-off of one to three checks of any system: most are refused by its rules, if by anything."""
    request = RollRequest()
    systems = Check.DESCRIPTOR.oneofs_by_name["system"].fields
    for _ in range(random.choice((1, 1, 3))):
        check = getattr(request.checks.add(), random.choice(systems).name)
        check.SetInParent()
        filled(random, check, 0.7)
    return request


def asking(random: Random) -> GetOddsRequest:
    """Return a question about the odds of checks that mostly mean something, some of which are much work."""
    request = GetOddsRequest()
    filled(random, request, 0.1, 0)
    request.check.CopyFrom(_check(random))
    if random.random() < 0.3:
        request.against.CopyFrom(_check(random))
    return request


def _check(random: Random) -> Check:
    match random.randrange(8):
        case 0 | 1:
            return plausible(random).checks[0]
        case 2:
            return Check(notation=NotationCheck(text=random.choice(MUCH_WORK)))
        case _:
            return random.choice(SAMPLES).message()


def requests(seed: int, kinds: dict[str, type[Message]], count: int) -> Iterator[tuple[str, bytes]]:
    """Yield the name of a kind and a body, so many times; a third of them whole."""
    random = Random(seed)
    names = list(kinds)
    for number in range(count):
        name = random.choice(names)
        message = kinds[name]()
        if isinstance(message, RollRequest) and number % 2:
            message = plausible(random)
        elif isinstance(message, StreamRollsRequest) and number % 2:
            message.request.CopyFrom(plausible(random))
        elif isinstance(message, GetOddsRequest) and number % 4:
            message = asking(random)
        while not message.ListFields():
            filled(random, message, random.choice((0.15, 0.3, 0.5)))
        body = message.SerializeToString()
        yield name, body if number % 3 == 0 else damaged(random, body)
