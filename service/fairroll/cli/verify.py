"""`fairroll verify`: receipts against a root key, offline, step by step."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairroll.audit.reading import CUT, is_cut
from fairroll.bundle import Bundle
from fairroll.cli import verify_report
from fairroll.cli.mine import add_mine, read_mine
from fairroll.cli.output import EXIT_GOOD, EXIT_NO, EXIT_USE, print_json, print_lines, read_file, read_root_key
from fairroll.cli.receipts import key_list_at, parse_receipt
from fairroll.cli.session_files import holds_sessions, read_receipts
from fairroll.envelope import Envelope
from fairroll.errors import FairrollError, KeyFileError, RequestError, VerificationError
from fairroll.trust import TrustFile
from fairroll.verify import StepTaken, Verified, verification
from fairroll.verify_session import verify_sessions

_EPILOG = """\
A receipt is a bundle (fairroll roll --save), an answer of POST /v1/rolls, or a bare envelope; the last two need --keys.
Pin the root key: get it from the operator, and not from where you got the receipt.

exit codes: 0 every step of every receipt held; 1 one failed, or could not be judged; 2 wrong use, or a file
that cannot be read

A folder, or a file .jsonl with a receipt a line, holds sessions: beside the steps of each receipt, seqs, links and
answers are verified, and decisions that wait are told. With --mine, whatever is named is verified so.

examples:
  fairroll verify receipt.json --root var/keys/root.pub --trust trust.json
  fairroll verify scene/ --root var/keys/root.pub --mine ann.json"""


@dataclass(frozen=True, slots=True)
class Report:
    """What came of one receipt.

    Attributes:
        name: the file's, as it was given.
        steps: those taken before the failure, or all.
        verified: where none failed.
        error: why one failed, or why the file is no receipt.
    """

    name: str
    steps: tuple[StepTaken, ...] = ()
    verified: Verified | None = None
    error: FairrollError | None = None

    @property
    def exit_code(self) -> int:
        """0 where every step held, 2 where the file cannot be read."""
        if isinstance(self.error, KeyFileError):
            return EXIT_USE
        return EXIT_GOOD if self.verified is not None and self.verified.complete else EXIT_NO


@dataclass(frozen=True, slots=True)
class Judge:
    """By what the receipts of one command line are judged.

    Attributes:
        root_public_key: 32 bytes that the auditor pinned.
        key_list: the list given by --keys, if one was.
        trust: the trust file, if one was named.
        saved: digests that the auditor had before a key was revoked.
    """

    root_public_key: bytes
    key_list: Envelope | None = None
    trust: TrustFile | None = None
    saved: Sequence[str] = ()

    def report(self, name: str) -> Report:
        """Verify the receipt in one file; only the trust file's own faults are raised."""
        try:
            text = read_file(name)
        except KeyFileError as error:
            return Report(name, error=error)
        try:
            bundle = parse_receipt(text)
        except RequestError as error:
            return Report(name, error=RequestError(*CUT) if is_cut(text) else error)
        steps: list[StepTaken] = []
        taking = verification(
            bundle, self.root_public_key, key_list=self.key_list, trust=self.trust, saved=frozenset(self.saved)
        )
        try:
            while True:
                steps.append(next(taking))
        except StopIteration as end:
            return Report(name, tuple(steps), verified=end.value)
        except VerificationError as error:
            return Report(name, tuple(steps), error=error)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the receipts and what to judge them by."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument(
        "receipts", nargs="+", metavar="RECEIPT", help="files, - for standard input; or folders and .jsonl"
    )
    parser.add_argument(
        "--root", required=True, metavar="KEY", help="root public key: 64 hex digits, or a file of them"
    )
    parser.add_argument(
        "--keys", metavar="FILE", help="a signed key list, used instead of the receipts' own; refused if it is older"
    )
    parser.add_argument(
        "--trust",
        type=Path,
        metavar="FILE",
        help="keeps the newest key list that was seen, and judges older receipts by it; made if it is missing",
    )
    parser.add_argument(
        "--saved",
        type=read_digest,
        action="append",
        default=[],
        metavar="DIGEST",
        help="a receipt that you had before its key was revoked, which then still stands; may be repeated",
    )
    add_mine(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Verify each receipt and report on it."""
    judge = Judge(
        read_root_key(options.root),
        None if options.keys is None else key_list_at(options.keys),
        None if options.trust is None else TrustFile(options.trust),
        options.saved,
    )
    if options.mine or any(map(holds_sessions, options.receipts)):
        return _verify_sessions(judge, options)
    reports = []
    for number, name in enumerate(options.receipts):
        reports.append(judge.report(name))
        if not options.json:
            print_lines([*([""] if number else []), *verify_report.lines(reports[-1])])
    if options.json:
        print_json(verify_report.value(reports))
    elif len(reports) > 1:
        good = sum(report.exit_code == EXIT_GOOD for report in reports)
        print(f"\n{good} of {len(reports)} receipts verified")
    return max(_cited(reports, options), *(report.exit_code for report in reports))


def _cited(reports: Sequence[Report], options: argparse.Namespace) -> int:
    """Report on what receipts cite of each other; the exit code is bad where a cited one says something else."""
    found = verify_report.cited(reports)
    if found and not options.json:
        print_lines(["", *verify_report.citation_lines(found)])
    return EXIT_NO if verify_report.differs(found) else EXIT_GOOD


def _verify_sessions(judge: Judge, options: argparse.Namespace) -> int:
    """Verify all receipts together and report on their sessions."""
    mine = read_mine(options.mine)
    read = read_receipts(options.receipts)
    reports = [Report(name, error=error) for name, error in read if isinstance(error, FairrollError)]
    judged, sessions = verify_sessions(
        [(name, bundle) for name, bundle in read if isinstance(bundle, Bundle)],
        judge.root_public_key,
        key_list=judge.key_list,
        trust=judge.trust,
        saved=frozenset(judge.saved),
        mine=mine,
        others=bool(reports),
    )
    missing = mine.without_session(report.session for report in sessions)
    reports += [Report(each.name, each.steps, each.verified, each.error) for each in judged]
    if options.json:
        print_json(verify_report.session_value(reports, sessions, missing))
    else:
        print_lines(f"{name}: the report of an audit, passed over" for name, bundle in read if bundle is None)
        print_lines([*verify_report.session_lines(reports, sessions), *verify_report.missing_lines(missing)])
    good = all(report.verified for report in sessions) and not missing
    code = max([EXIT_GOOD if good else EXIT_NO, _cited(reports, options), *(report.exit_code for report in reports)])
    if code != EXIT_GOOD and not options.json:
        print_lines(["", verify_report.closing_line(reports, sessions)])
    return code


def read_digest(text: str) -> str:
    """Read a digest as an argument.

    Raises:
        argparse.ArgumentTypeError: it is not written as one.
    """
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise argparse.ArgumentTypeError("a digest is 64 lower-case hex digits")
    return text
