"""The one table of errors: stable reason, gRPC code, HTTP status, what to do about it.

Both doors map errors by it, and `docs/errors.md` is printed from it. Nothing is imported here but the standard
library, so that a command which only needs a sentence stays quick.
"""

from enum import IntEnum
from typing import NamedTuple


class Code(IntEnum):
    """The status codes of gRPC, by their numbers."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


HTTP = {
    Code.OK: 200,
    Code.INVALID_ARGUMENT: 400,
    Code.FAILED_PRECONDITION: 400,
    Code.OUT_OF_RANGE: 400,
    Code.UNAUTHENTICATED: 401,
    Code.PERMISSION_DENIED: 403,
    Code.NOT_FOUND: 404,
    Code.ALREADY_EXISTS: 409,
    Code.ABORTED: 409,
    Code.RESOURCE_EXHAUSTED: 429,
    Code.CANCELLED: 499,
    Code.UNKNOWN: 500,
    Code.INTERNAL: 500,
    Code.DATA_LOSS: 500,
    Code.UNIMPLEMENTED: 501,
    Code.UNAVAILABLE: 503,
    Code.DEADLINE_EXCEEDED: 504,
}
"""The HTTP status of each code, unless a reason says otherwise."""


class Reason(NamedTuple):
    """A row of the table.

    Attributes:
        code: on gRPC.
        http: on REST.
        sentence: what it means, for people.
        calls: whose own judgement gives it as an error; empty for what the doors give, and for what no call does.
    """

    code: Code
    http: int
    sentence: str
    calls: frozenset[str] = frozenset()


class Group(NamedTuple):
    """Rows that belong together, for people who read the table."""

    title: str
    text: str
    reasons: dict[str, Reason]


ROLLS = frozenset({"Roll", "StreamRolls", "SealRoll"})
ODDS = frozenset({"GetOdds"})
VERIFICATIONS = frozenset({"VerifyReceipt", "VerifySession"})


def _group(
    title: str,
    text: str,
    code: Code,
    sentences: dict[str, str],
    *,
    calls: frozenset[str] = frozenset(),
    of: dict[str, frozenset[str]] | None = None,
    **http: int,
) -> Group:
    """Give all reasons of a group its code and calls; `of` has those of other calls, `http` those of another status."""
    others = of or {}
    return Group(
        title,
        text,
        {
            reason: Reason(code, http.get(reason, HTTP[code]), sentence, others.get(reason, calls))
            for reason, sentence in sentences.items()
        },
    )


GROUPS = (
    _group(
        "The message",
        "The bytes are not a request. Nothing was rolled.",
        Code.INVALID_ARGUMENT,
        {
            "BASE64_INVALID": "Bytes in JSON are base64 with its padding and nothing else in it.",
            "BODY_UNREADABLE": "The bytes are not the protobuf message of this call.",
            "ENUM_UNKNOWN": "The enum has no such value. Send a name of the contract, or its number.",
            "FIELD_CONFLICT": "Two fields are set of which only one may be.",
            "HTTP_INVALID": "The bytes are no HTTP/1.1 request.",
            "JSON_INVALID": "Signed or trusted JSON is not written in the strict form that is required of it.",
            "JSON_KEY_REPEATED": "A key stands twice in one object, or a field stands under both its spellings.",
            "JSON_TOO_DEEP": "The JSON is nested deeper than any message of the contract.",
            "JSON_TYPE": "A value of signed or trusted JSON has another type than it must have.",
            "JSON_UNREADABLE": "The body is not JSON in UTF-8.",
            "MEDIA_TYPE_UNSUPPORTED": "Send the body with a content type named in the message, and not compressed.",
            "MISSING_FIELD": "Signed or trusted JSON lacks a field.",
            "TEXT_INVALID": "A text holds what is not Unicode.",
            "UNKNOWN_FIELD": "The contract has no such field: look for a typo, or a newer contract than the service's.",
            "UNKNOWN_VALUE": "Signed or trusted JSON has a value that is none of the known ones.",
            "WRONG_TYPE": "A value in JSON has another type than its field.",
        },
        MEDIA_TYPE_UNSUPPORTED=415,
    ),
    _group(
        "The request",
        "The message is read and what it says is refused. The same request will be refused again. Nothing was rolled.",
        Code.INVALID_ARGUMENT,
        {
            "ANSWERS_LEFT": "There are more answers than questions.",
            "ANSWER_MISSING": "All decisions that wait together are answered together; one has no answer.",
            "ASK_NOT_ALONE": "A check whose policy is ASK stands alone in its request.",
            "BRANCH": "Two answers were given to one pending receipt: a roll goes on in one way only.",
            "CHAIN_DIFFERS": "The chain is not the one that `root` and `continues` name, root first, each once.",
            "CHAIN_EXHAUSTED": "A co-seed chain has no value for this seq, and none above 4095: begin a new session.",
            "CHAIN_FOREIGN": "The session does not hold the anchor of this co-seed chain.",
            "CHAIN_ORDER": "The seqs of a chain and of its answer rise.",
            "CHAIN_OTHER_SESSION": "Values of this co-seed chain were given in another session: draw one for each.",
            "CITED_BY_NONE": "A receipt is shown as cited, and no check cites it.",
            "CITED_DIFFERS": "None of the receipts that the check cites says what it takes from them.",
            "CONFLICT": "Two fields of the check exclude each other.",
            "CONTRIBUTION_LENGTH": "Entropy, anchors, chain hashes and randomness have 32 bytes each.",
            "DECISION_OPEN": "A decision has the policy ASK, and nobody answers it.",
            "DECISION_UNKNOWN": "The roll waits for no such decision; the details list those that wait.",
            "DIGEST_MALFORMED": "A digest is 64 lower-case hex digits.",
            "DUPLICATE_KEY": "A public key stands twice in a key list.",
            "ENGINE_DIFFERS": "All receipts of one roll have one engine version.",
            "FACES_LEFT": "The roll took fewer faces than were given.",
            "FACES_MISSING": "The roll asks for more faces than were given.",
            "FACE_OUT_OF_RANGE": "A given face is not on its die.",
            "KEY_ID_MALFORMED": "A key id is 43 characters of base64url.",
            "KEY_LENGTH": "A public key has 32 bytes.",
            "KEY_LIST_NOT_CANONICAL": "Writing the key list again gives other bytes than were signed.",
            "KEY_USE": "A key list holds keys of use vrf and receipt, and of no other.",
            "LIMIT_EXCEEDED": "A limit of GetLimits is passed; the details name it, its value and what was given.",
            "NAME_LENGTH": "A name is too short or too long, counted in bytes of UTF-8.",
            "NOT_PENDING": "The receipt waits for no decision.",
            "OFFER_LACKS_COMMIT": "The offer does not show the commit of this entropy, so nothing is opened.",
            "ONE_OFF_MALFORMED": "A one-off table is `one-off/` and 64 hex digits, in a session without contributions.",
            "ONE_OFF_MISMATCH": "The one-off table is not the one of this tenant and request_id.",
            "OPENED_ALREADY": "The entropy was opened for another offer: draw fresh entropy for each.",
            "OPENING_MISSING": "A contribution of the offer is not opened yet.",
            "OPENING_UNKNOWN": "Nothing that the offer shows opens so.",
            "OPTION_UNKNOWN": "The decision has no such option; the details list those it has.",
            "OUT_OF_RANGE": "A number or text is out of its range; the details give the range.",
            "PARENT_SESSION": "A receipt of the chain is of another session.",
            "PREVIOUS_AT_START": "Nothing comes before seq 0: leave previous unset, or give 64 zeros.",
            "QUANTITY_UNKNOWN": "The check has no such quantity; the details list those it has.",
            "QUERY_REPEATED": "A parameter stands twice in the query of a URL.",
            "RECEIPT_NOT_SHOWN": "The next value of a chain is given once the receipt before it was shown.",
            "REQUEST_ID_WITH_SESSION": "A request_id names a one-off; in a session the seq does.",
            "REQUIRED": "A field is missing that has no default.",
            "REVEAL_CONFLICT": "The value of this seq was given for another request, and is given for one.",
            "REVEAL_COUNT": "There must be one reveal for each anchor of the session.",
            "REVEAL_GAP": "Values of a chain are given in order: that of an earlier seq comes first.",
            "REVEAL_MISMATCH": "A reveal is not the next value of its chain.",
            "ROUND_OUT_OF_RANGE": "A drand round is 1 to 2^64-1.",
            "ROUND_PAST": "The beacon's round is published already: whoever chose it may have seen it.",
            "ROUND_UNREADABLE": "A beacon's round is JSON with round, randomness and signature.",
            "SEED_LENGTH": "A seed has 32 bytes.",
            "SEQ_OUT_OF_RANGE": "A seq is 0 to 2^53-1; a one-off has 0.",
            "SESSION_REQUIRED": "What may ask, answers, closes and seals belong to a session, not to a one-off.",
            "SIDES_OUT_OF_RANGE": "A draw has 1 to 2^31 sides.",
            "TABLE_RESERVED": "A table's name must not begin with `one-off/`: those are the service's.",
            "TOO_MANY_CONTRIBUTIONS": "A session has at most 32 contributions, of which at most 4 anchors.",
        },
        calls=ROLLS,
        of={
            **dict.fromkeys(("LIMIT_EXCEEDED", "REQUIRED"), ROLLS | VERIFICATIONS | ODDS),
            **dict.fromkeys(("DECISION_OPEN", "QUANTITY_UNKNOWN", "QUERY_REPEATED"), ODDS),
            # What a roll refuses of its check, odds refuse.
            **dict.fromkeys(("CONFLICT", "OUT_OF_RANGE"), ROLLS | ODDS),
            "NAME_LENGTH": ROLLS | ODDS | VERIFICATIONS,
            # An offer is held to what a session is held to.
            **dict.fromkeys(
                (
                    "CONTRIBUTION_LENGTH",
                    "KEY_ID_MALFORMED",
                    "ONE_OFF_MALFORMED",
                    "ROUND_OUT_OF_RANGE",
                    "TABLE_RESERVED",
                    "TOO_MANY_CONTRIBUTIONS",
                ),
                ROLLS | VERIFICATIONS,
            ),
            "DIGEST_MALFORMED": ROLLS | ODDS | VERIFICATIONS,
            "SEQ_OUT_OF_RANGE": ROLLS | VERIFICATIONS,
            "KEY_LENGTH": VERIFICATIONS,
            **dict.fromkeys(
                (
                    "ANSWERS_LEFT",
                    "CHAIN_FOREIGN",
                    "CHAIN_OTHER_SESSION",
                    "DUPLICATE_KEY",
                    "FACES_LEFT",
                    "FACES_MISSING",
                    "FACE_OUT_OF_RANGE",
                    "KEY_LIST_NOT_CANONICAL",
                    "KEY_USE",
                    "OFFER_LACKS_COMMIT",
                    "ONE_OFF_MISMATCH",
                    "OPENED_ALREADY",
                    "OPENING_MISSING",
                    "OPENING_UNKNOWN",
                    "RECEIPT_NOT_SHOWN",
                    "REVEAL_CONFLICT",
                    "REVEAL_GAP",
                    "ROUND_PAST",
                    "ROUND_UNREADABLE",
                    "SEED_LENGTH",
                    "SIDES_OUT_OF_RANGE",
                ),
                frozenset(),
            ),
        },
    ),
    _group(
        "The notation",
        "Text is not notation, or means what no dice could give. The details hold the span, what was expected, and a "
        "way out. Nothing was rolled. ParseNotation answers with these instead of failing.",
        Code.INVALID_ARGUMENT,
        {
            "ARGUMENT_COUNT": "The function takes another number of arguments.",
            "COMPARES_TOTAL": "A total is compared: compare outside, or count on the pool.",
            "COUNTED_ALREADY": "The dice in the parentheses are counted already.",
            "COUNT_NEGATIVE": "A count of dice can be negative.",
            "DIALECT_CONFLICT": "The text means different things in different dialects, so none is guessed.",
            "DIALECT_CANNOT_SAY": "The dialect to translate to has no words for that part.",
            "DICE_IN_COMPARE": "A compare point, a cap or a clamp holds no dice.",
            "DIVISION_BY_ZERO": "A divisor is 0, or can be.",
            "DRAWS_DIFFER": "The draws shown are not those of this check.",
            "DROPS_ALL": "A bare d after a pool drops all dice or more: write dl or dh, or roll more dice.",
            "FAILURE_WITHOUT_SUCCESS": "Failures are counted only after a success.",
            "GROUP_OF_ONE": "A group of one has nothing to choose from, or no dice to choose among.",
            "MODIFIER_MISPLACED": "The modifier does not belong there.",
            "NEVER_ENDS": "A reroll or explosion would be true on every face.",
            "NOTATION_INVALID": "A system's own notation is not written as it must be.",
            "NOTATION_SYNTAX": "The text is not notation at the span.",
            "NO_SUCH_OPTION": "A variable is none of the options of the query that it answers; the details name those.",
            "NOT_EXACT": "The function has no exact value there.",
            "NOT_WHOLE": "A count, sides, an exponent or a clamp is not always whole: use floor, ceil or round.",
            "SEVERAL_ROLLS": "The text holds several rolls: make each a check of one request.",
            "SIDES_TOO_FEW": "A die can have less than one side.",
            "TOKEN_OF_OTHER_DIALECT": "The dialect has no such token; the details name those that do, and the way out.",
            "TWO_KEEPS": "A pool is kept once.",
            "UNIQUE_IMPOSSIBLE": "More dice must differ than there are faces.",
            "UNKNOWN_FUNCTION": "There is no such function.",
            "VARIABLE_MISSING": "A variable has no value; it is never taken for zero.",
            "VARIABLE_REPEATED": "A variable is bound twice.",
        },
        calls=ROLLS | ODDS,
        of={"DRAWS_DIFFER": frozenset()},
    ),
    _group(
        "The size",
        "The message is larger than the service reads. A message of more than four times the limit is cut off by the "
        "gRPC library, without details.",
        Code.RESOURCE_EXHAUSTED,
        {
            "BODY_TOO_LARGE": "The message is larger than `message_bytes` of GetLimits.",
            "HEAD_TOO_LARGE": "Request line and headers are larger than `head_bytes` of GetLimits.",
        },
        BODY_TOO_LARGE=413,
        HEAD_TOO_LARGE=431,
    ),
    _group(
        "The state",
        "The request is well formed and does not fit what the service holds.",
        Code.FAILED_PRECONDITION,
        {
            "CHAIN_NOT_STANDING": "A receipt of the chain is not the one that stands at its seq.",
            "ENGINE_CHANGED": "The engine or key that answered this request is gone; its receipt stands.",
            "ENGINE_GONE": "The roll began under an engine version that runs here no more.",
            "SEQ_GAP": "Nothing was rolled at the seq before yet.",
            "SESSION_CLOSED": "The session is closed: begin a new one.",
            "VRF_KEY_NOT_HELD": "The service does not hold the session's VRF key: begin a new session.",
        },
        calls=ROLLS,
    ),
    _group(
        "The guard",
        "What may be used once was used. The details hold the digest of the receipt that stands.",
        Code.ALREADY_EXISTS,
        {
            "ANSWERED_ALREADY": "The pending receipt was answered before, and is answered once.",
            "SEQ_USED": "Another request was answered at this seq.",
        },
        calls=ROLLS,
    ),
    _group(
        "The credential",
        "The service has a file of API keys, and the call shows none of them.",
        Code.UNAUTHENTICATED,
        {
            "API_KEY_MISSING": "Send an API key: the header `x-api-key` on REST, the metadata `x-api-key` on gRPC.",
            "API_KEY_UNKNOWN": "There is no such API key, or it was revoked.",
        },
    ),
    _group(
        "The caller",
        "The request belongs to somebody else, or to a page that may not ask.",
        Code.PERMISSION_DENIED,
        {
            "CORS_REFUSED": "A page of this origin may not call, or not with this method or these headers.",
            "ORIGIN_MISMATCH": "The session names another service's origin.",
            "TENANT_MISMATCH": "The session names another tenant: leave it unset, or give your own.",
        },
        calls=ROLLS,
        of={"CORS_REFUSED": frozenset()},
    ),
    _group(
        "The route",
        "There is no such call.",
        Code.UNIMPLEMENTED,
        {
            "METHOD_NOT_ALLOWED": "The route exists and takes another HTTP method.",
            "METHOD_UNKNOWN": "The service has no such gRPC method.",
            "ROUTE_UNKNOWN": "The service has no such route.",
        },
        METHOD_NOT_ALLOWED=405,
        ROUTE_UNKNOWN=404,
    ),
    _group(
        "The time",
        "The call came too late, and nothing was rolled.",
        Code.DEADLINE_EXCEEDED,
        {"DEADLINE_PASSED": "The call's deadline passed before its turn came, or before its odds were found."},
        calls=ODDS,
    ),
    _group(
        "The moment",
        "Nothing was rolled: ask again, and this process or another one will answer.",
        Code.UNAVAILABLE,
        {
            "DRAINING": "The process is shutting down.",
            "GUARD_UNREACHABLE": "The store that lets a seq be used once does not answer, and nothing was proved.",
            "ODDS_BUSY": "As many questions about odds wait already as may.",
        },
        calls=ROLLS,
        of={"DRAINING": frozenset(), "ODDS_BUSY": ODDS},
    ),
    _group(
        "The service",
        "It is our fault. The answer holds an id and nothing else; the operator finds the rest in the log under it.",
        Code.INTERNAL,
        {"INTERNAL": "Something failed that must not fail: report the id."},
    ),
    _group(
        "The receipt",
        "Why a receipt, or the key list it rests on, is refused. VerifyReceipt answers with these in its steps and "
        "`fairroll verify` prints them; as an error they stand only where a bundle cannot be read at all.",
        Code.INVALID_ARGUMENT,
        {
            "AFTER_CLOSE": "The session goes on after its close.",
            "BEACON_INVALID": "A contribution is not what the beacon published for that round.",
            "DIGEST_DIFFERS": "The digest shown beside the envelope is not the envelope's.",
            "DRAW_DIFFERS": "A recorded face is not what the stream gives.",
            "KEY_CHANGED": "A newer key list says something else of a key than an older one did.",
            "KEY_DROPPED": "A newer key list lacks a key of an older one.",
            "KEY_LIST_CONFLICT": "Two key lists of one version differ: the operator signed both.",
            "KEY_LIST_MISSING": "There is no key list to judge by.",
            "KEY_LIST_OLDER": "The key list is older than one that was seen before.",
            "KEY_REVOKED": "The key is revoked, and the receipt was not named as saved before.",
            "KEY_REVIVED": "A newer key list takes back that a key was retired or revoked.",
            "LINE_TOO_LONG": "A line, or a file, is longer than any receipt is.",
            "NO_CURVE_POINT": "256 tries gave no point for the input: with odds of 2^-256, a sign of tampering.",
            "OFFER_NOT_OPENED": "The session stands where an offer that was kept stands, and is not the one offered.",
            "ORIGIN_DIFFERS_FROM_LIST": "The key list is another origin's than the record.",
            "OUTCOME_DIFFERS": "The rules give another outcome, or other draws, than the record.",
            "PAYLOAD_TYPE": "The envelope holds something else than is asked for.",
            "PREVIOUS_DIFFERS": "A receipt names another one before it than the session has.",
            "PROOF_INVALID": "The proof is not for this key, session and seq.",
            "PROOF_LENGTH": "A proof has 80 bytes.",
            "PROOF_POINT_INVALID": "Gamma is not a valid point of the prime-order group.",
            "PROOF_SCALAR_INVALID": "c or s is zero, or s is not below q.",
            "RECEIPT_KEY_DIFFERS": "The record names another receipt key than the one that signed it.",
            "RECEIPT_CUT": "The file ends in the middle of a receipt: its tail is missing.",
            "RECORD_DIFFERS": "The record shown beside the envelope is not the one that was signed.",
            "RECORD_INVALID": "The record holds what no record holds, or lacks what every record has.",
            "RECORD_NEWER": "The record is newer than this verifier, not forged: verify with a newer one.",
            "RECORD_NOT_CANONICAL": "Writing the record again gives other bytes.",
            "RECORD_TOO_LARGE": "A payload has at most 1 MiB.",
            "RECORD_UNREADABLE": "The payload is no record.",
            "REVEAL_DIFFERS": "The receipt is for another request than the one that the co-seed value was given for.",
            "REVEAL_NOT_GIVEN": "The receipt holds a co-seed value that the chain's owner gave for no request.",
            "REVEAL_WITHOUT_RECEIPT": "A co-seed value was given for a seq, and there is no receipt of it.",
            "ROOT_KEY_LISTED": "The root key stands in its own list.",
            "SEAL_DIFFERS": "The receipt is not the one whose digest was told when the roll was sealed.",
            "SEQ_MISSING": "A session has no receipt of a seq below its last.",
            "SEQ_TWICE": "Two receipts stand at one seq: the operator signed both.",
            "SIGNATURE_COUNT": "The envelope has not exactly one signature.",
            "SIGNATURE_INVALID": "The signature is not the key's over these bytes.",
            "SIGNATURE_LENGTH": "A key has 32 bytes and a signature 64.",
            "SOURCE_CHANGED": "A file was added, taken away or written while an audit read it: audit a copy.",
            "TOO_MANY_DRAWS": "A record has at most 10,000 draws.",
            "UNKNOWN_KEY": "The key list has no key of this use with this id.",
            "VRF_KEY_INVALID": "The VRF key is not a valid point of the prime-order group.",
        },
        # The receipts that a roll continues are looked at before it is rolled.
        of=dict.fromkeys(
            (
                "PAYLOAD_TYPE",
                "RECORD_NEWER",
                "SIGNATURE_COUNT",
                "SIGNATURE_INVALID",
                "SIGNATURE_LENGTH",
                "UNKNOWN_KEY",
            ),
            ROLLS,
        ),
    ),
    _group(
        "The operator",
        "What the command `fairroll` refuses, on stderr and with exit code 2. No caller of the service sees these.",
        Code.INTERNAL,
        {
            "API_KEY_FILE_EXPOSED": "The file of API keys can be written by others.",
            "API_KEY_FILE_INVALID": "The file of API keys is not one.",
            "API_KEY_ID_UNKNOWN": "The file of API keys has no key of this id.",
            "ADDRESS_IN_USE": "Another process listens there already, or the address is not this machine's.",
            "CHAIN_FILE_INVALID": "The file is none that holds a co-seed chain.",
            "DIRECTORY_EXPOSED": "The key directory can be read or written by others.",
            "DIRECTORY_NOT_MADE": "The key directory cannot be made.",
            "FIELD_NOT_GIVEN": "A field is given as field=value.",
            "FILE_EXISTS": "A file exists already and is left as it is.",
            "FILE_NOT_READ": "A file cannot be read.",
            "FILE_NOT_WRITTEN": "A file cannot be written.",
            "FILE_TOO_LARGE": "A key or trust file is larger than any such file is.",
            "GUARD_NOT_INSTALLED": "For a guard in PostgreSQL, install `fairroll[postgresql]`.",
            "KEPT_FILE_INVALID": "A file named by --mine, or to open an offer with, is none that one keeps.",
            "KEY_FILE_EXPOSED": "A key file can be read by others: make it readable by its owner alone.",
            "KEY_FILE_MALFORMED": "A key file holds something else than a key.",
            "KEY_LIST_INVALID": "The key list in the key directory is not one of its root key.",
            "KEY_LIST_UNREADABLE": "The file given is no signed key list.",
            "KEY_MISSING": "The key directory lacks a key.",
            "KEY_NOT_ACTIVE": "A key in the directory is retired or revoked: remove it.",
            "KEY_NOT_LISTED": "A key in the directory is not in the key list for that use.",
            "NOTHING_OFFERED": "An offer shows what at least one party will contribute.",
            "NOTHING_TO_ROLL": "Name what to roll, such as `fairroll roll 4d6kh3`.",
            "NOT_LOOPBACK": "Callers are anonymous, so the service listens on loopback addresses only.",
            "OFFER_NOT_SHOWN": "A chain gives values for a session that was offered: show the offer with --mine.",
            "ORIGIN_DIFFERS": "The configured origin is not the one of the key list.",
            "REPORTS_IN_ONE_FILE": "The two reports of an audit need a file each.",
            "ROLL_NOT_NAMED": "The system has several rolls: name one.",
            "ROOT_KEY_INVALID": "A root key is 64 hex digits, or a file that holds them.",
            "ROTATE_FIRST": "New sessions use these keys: make those of the next epoch first.",
            "SCIPY_NOT_INSTALLED": "For an audit's reports, install `fairroll[audit]`; auditing needs it not.",
            "SEALED_FILE_INVALID": "The file is none that opens a sealed roll.",
            "SERVER_INVALID": "The service's address begins with http:// or https://.",
            "SERVER_NOT_INSTALLED": "To serve, and to find odds, install `fairroll[server]`.",
            "SERVICE_UNREACHABLE": "No service answers there.",
            "SERVICE_UNREADABLE": "What answers there is not fairroll.",
            "SESSION_NOT_WHOLE": "A request is announced for a whole session, which --session or --after names.",
            "SETTINGS_INVALID": "A setting cannot be read, or contradicts another; the message names each.",
            "SYSTEM_UNKNOWN": "There is no such system; `fairroll systems` lists them.",
            "TENANT_INVALID": "A tenant is 1 to 64 of a-z, A-Z, 0-9, `.`, `_` and `-`, and is not `local`.",
            "TRUST_FILE_INVALID": "The trust file is not one.",
            "WORKER_LOST": "A process of an audit was ended from outside: memory is short, or someone ended it.",
        },
    ),
)
"""Every reason, grouped for people."""

TABLE = {reason: row for group in GROUPS for reason, row in group.reasons.items()}
"""Every reason by its name."""

WITH_GUARD = frozenset(
    {
        "ANSWERED_ALREADY",
        "CHAIN_NOT_STANDING",
        "ENGINE_CHANGED",
        "GUARD_UNREACHABLE",
        "SEQ_GAP",
        "SEQ_USED",
        "SESSION_CLOSED",
    }
)
"""What only a service with a guard gives."""


def given_by(call: str, *, guard: bool = True) -> frozenset[str]:
    """Return the reasons with which a call may be refused by its own judgement; what the doors add is theirs."""
    given = frozenset(reason for reason, row in TABLE.items() if call in row.calls)
    return given if guard else given - WITH_GUARD


INTRODUCTION = """\
Printed from `service/fairroll/reasons.py` by `python -m fairroll.reasons`; a test keeps the two equal.

Every error has a stable **reason**, made for programs, and a message for people, which may change. On gRPC the reason
stands in `google.rpc.ErrorInfo` (domain `fairroll`) in the status details; on REST it is the member `reason` of the
problem (RFC 9457). Beside it stand, where they apply, the field (`google.rpc.BadRequest`), the limit or range
(`fairroll.v1.LimitViolation`), and the stretch of notation (`fairroll.v1.NotationViolation`). Whatever is refused is
refused before anything is drawn."""


def markdown() -> str:
    """Return the table as the page `docs/errors.md`."""
    parts = ["# Errors", INTRODUCTION]
    for group in GROUPS:
        parts += [f"## {group.title}", group.text]
        rows = [f"| `{name}` | {row.code.name} | {row.http} | {row.sentence} |" for name, row in group.reasons.items()]
        parts.append("\n".join(["| reason | gRPC | HTTP | meaning |", "|---|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    print(markdown(), end="")  # noqa: T201  printing is what it is run for
