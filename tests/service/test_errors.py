"""The table of errors: complete, equal to its page, and the same for both doors."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

import fairroll
import fairroll_rules
from fairroll import errors
from fairroll.errors import FairrollError, Step, VerificationError, code_of, http_status_of, internal_status, to_status
from fairroll.reasons import GROUPS, HTTP, TABLE, Code, markdown
from tests.service.grpc_door import read_refusal

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = [Path(next(iter(package.__path__))) for package in (fairroll, fairroll_rules)]
REASON = re.compile(r"[A-Z][A-Z0-9]+(_[A-Z0-9]+)*")
# What only raises where the caller already has an answer: the record, or a message of `fairroll resolve`.
NEVER_A_STATUS = {"LIMIT_REACHED"}


RAISERS = re.compile(r"\w*Error|LimitReached|_?refuse\w*|_?fail\w*|beyond")


def reasons_in_code() -> Iterator[tuple[str, str]]:
    """Every reason that an error is raised with, and where: a literal, or a constant of its module or another."""
    trees = {
        path: ast.parse(path.read_text())
        for package in PACKAGES
        for path in package.rglob("*.py")
        if path.parent.name != "v1"
    }
    constants = {
        target.id: node.value
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for path, tree in trees.items():
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call):
                continue
            name = str(getattr(call.func, "id", getattr(call.func, "attr", "")))
            if not RAISERS.fullmatch(name):
                continue
            for argument in call.args[:2]:
                value = constants.get(argument.id) if isinstance(argument, ast.Name) else argument
                if isinstance(value, ast.Constant) and REASON.fullmatch(str(value.value)):
                    yield str(value.value), f"{path.name}:{call.lineno}"


def test_every_reason_in_the_code_is_in_the_table() -> None:
    found = list(reasons_in_code())
    assert len(found) > 50, "the search itself is broken"
    assert [each for each in found if each[0] not in TABLE.keys() | NEVER_A_STATUS] == []


def test_the_page_is_printed_from_the_table() -> None:
    assert (ROOT / "docs" / "errors.md").read_text() == markdown(), "run: python -m fairroll.reasons > docs/errors.md"


def test_no_reason_stands_in_two_groups() -> None:
    names = [name for group in GROUPS for name in group.reasons]
    assert len(names) == len(set(names))


def test_reasons_are_upper_snake_case_and_sentences_end() -> None:
    assert all(REASON.fullmatch(name) and row.sentence.endswith(".") for name, row in TABLE.items())


def test_codes_are_those_of_grpc() -> None:
    assert {code.name: int(code) for code in Code} == {code.name: code.value[0] for code in grpc.StatusCode}


def test_every_code_has_the_http_status_of_the_design() -> None:
    assert {code.name: status for code, status in HTTP.items()} == {
        "OK": 200,
        "INVALID_ARGUMENT": 400,
        "FAILED_PRECONDITION": 400,
        "OUT_OF_RANGE": 400,
        "UNAUTHENTICATED": 401,
        "PERMISSION_DENIED": 403,
        "NOT_FOUND": 404,
        "ALREADY_EXISTS": 409,
        "ABORTED": 409,
        "RESOURCE_EXHAUSTED": 429,
        "CANCELLED": 499,
        "INTERNAL": 500,
        "UNKNOWN": 500,
        "DATA_LOSS": 500,
        "UNIMPLEMENTED": 501,
        "UNAVAILABLE": 503,
        "DEADLINE_EXCEEDED": 504,
    }


def test_http_knows_better_than_the_code_in_five_places() -> None:
    own = {name: row.http for name, row in TABLE.items() if row.http != HTTP[row.code]}
    assert own == {
        "BODY_TOO_LARGE": 413,
        "HEAD_TOO_LARGE": 431,
        "MEDIA_TYPE_UNSUPPORTED": 415,
        "METHOD_NOT_ALLOWED": 405,
        "ROUTE_UNKNOWN": 404,
    }


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.RequestError("NEW_ONE", ""), Code.INVALID_ARGUMENT),
        (errors.StateError("NEW_ONE", ""), Code.FAILED_PRECONDITION),
        (VerificationError(Step.VRF, "NEW_ONE", ""), Code.INVALID_ARGUMENT),
        (errors.ServiceError("NEW_ONE", ""), Code.INTERNAL),
        (errors.KeyFileError("NEW_ONE", ""), Code.INTERNAL),
        (errors.SettingsError("NEW_ONE", ""), Code.INTERNAL),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_reason_that_the_table_lacks_is_judged_by_whose_fault_it_is(error: FairrollError, code: Code) -> None:
    assert (code_of(error), http_status_of(error)) == (code, HTTP[code])


def test_a_status_carries_all_that_the_error_knows() -> None:
    error = errors.RequestError(
        "OUT_OF_RANGE",
        "too much",
        field="checks[0].notation.text",
        minimum=1,
        maximum=4,
        value="5",
        span=(2, 3),
        expected=("a number",),
        hint="write 4",
    )
    refusal = read_refusal(to_status(error))
    assert (refusal.code, refusal.message) == (grpc.StatusCode.INVALID_ARGUMENT, "too much")
    assert (refusal.info.reason, refusal.info.domain) == ("OUT_OF_RANGE", "fairroll")
    assert refusal.fields == ["checks[0].notation.text"]
    limit, notation = refusal.limit, refusal.notation
    assert limit is not None
    assert (limit.limit, limit.minimum, limit.maximum, limit.value) == ("checks[0].notation.text", 1, 4, "5")
    assert notation is not None
    assert (notation.span.start, notation.span.end) == (2, 3)
    assert (list(notation.expected), notation.hint) == (["a number"], "write 4")


def test_a_status_carries_nothing_that_the_error_does_not_know() -> None:
    status = to_status(errors.RequestError("REQUIRED", "a check is missing"))
    assert len(status.details) == 1


def test_the_step_of_verification_is_in_the_metadata() -> None:
    info = read_refusal(to_status(VerificationError(Step.VRF, "PROOF_INVALID", "no"))).info
    assert dict(info.metadata) == {"step": "6"}


def test_texts_are_cut_to_what_trailers_hold() -> None:
    error = errors.RequestError("OUT_OF_RANGE", "m" * 10_000, field="x", maximum=1, value="v" * 10_000)
    refusal = read_refusal(to_status(error))
    assert len(refusal.message) == 400
    assert refusal.limit is not None
    assert refusal.limit.value == "v" * 97 + "..."
    assert len(to_status(error).SerializeToString()) < 4096


def test_an_internal_error_says_its_id_alone() -> None:
    status = internal_status("0123456789abcdef")
    assert (status.code, status.message) == (13, "internal error 0123456789abcdef")
    refusal = read_refusal(status)
    assert (refusal.info.reason, dict(refusal.info.metadata)) == ("INTERNAL", {"id": "0123456789abcdef"})
