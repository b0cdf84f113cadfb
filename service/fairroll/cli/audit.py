"""`fairroll audit`: any number of receipts and sessions, on all cores, with a report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import Any

from fairroll import files, strict_json
from fairroll.audit import report
from fairroll.audit.audit import Audit, Wanted, audit
from fairroll.audit.judging import Terms
from fairroll.audit.page import page
from fairroll.audit.pool import cores
from fairroll.cli.mine import add_mine, read_mine
from fairroll.cli.output import EXIT_GOOD, EXIT_NO, print_lines, read_root_key
from fairroll.cli.receipts import key_list_at
from fairroll.cli.verify import read_digest
from fairroll.errors import KeyFileError, WrongUseError
from fairroll.trust import TrustFile

_EPILOG = """\
A source is a folder (with those inside it; .json and .jsonl are read), a file .jsonl with a receipt a line, a single
receipt, or - for lines on standard input. Receipts are what `fairroll verify` takes.

exit codes: 0 every step of every receipt held, and nothing is wrong with any session; 1 something failed or could not
be judged, or there was no receipt; 2 wrong use. What statistics flag changes no exit code: it is no proof.

examples:
  fairroll audit scene/ --root root.pub
  fairroll audit receipts.jsonl --root root.pub --trust trust.json --html report.html --json report.json"""

_REPORT_MODE = 0o644
_SHOWN = 20
_SECONDS = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the sources, what to judge them by, and the reports."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="folders, files .jsonl, receipts, or -")
    parser.add_argument(
        "--root", required=True, metavar="KEY", help="root public key: 64 hex digits, or a file of them"
    )
    parser.add_argument("--keys", metavar="FILE", help="a signed key list, used instead of the receipts' own")
    parser.add_argument("--trust", type=Path, metavar="FILE", help="keeps the newest key list that was seen")
    parser.add_argument(
        "--saved",
        type=read_digest,
        action="append",
        default=[],
        metavar="DIGEST",
        help="a receipt that you had before its key was revoked; may be repeated",
    )
    parser.add_argument(
        "--head",
        type=read_digest,
        action="append",
        default=[],
        metavar="DIGEST",
        help="the last receipt that another participant has: it must be among these; may be repeated",
    )
    add_mine(parser)
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the report for people: one file, no network")
    parser.add_argument("--json", dest="json_report", type=Path, metavar="FILE", help="write the report for programs")
    parser.add_argument("--overwrite", action="store_true", help="write reports over files that exist")
    parser.add_argument("--jobs", type=_jobs, default=cores(), metavar="N", help="processes (default: a core each)")


def run(options: argparse.Namespace) -> int:
    """Audit, report, and say in short what came of it."""
    reports = [path for path in (options.html, options.json_report) if path is not None]
    if len(reports) == 2 and reports[0].resolve() == reports[1].resolve():
        raise WrongUseError("REPORTS_IN_ONE_FILE", "--html and --json name one file", field="--json")
    for path in reports:
        _require_free(path, overwrite=options.overwrite)
    if reports:
        from fairroll.audit.statistics import require_scipy

        require_scipy()
    terms = Terms(
        read_root_key(options.root),
        None if options.keys is None else key_list_at(options.keys),
        frozenset(options.saved),
        values=bool(reports),
    )
    trust = None if options.trust is None else TrustFile(options.trust)
    heads = tuple(map(bytes.fromhex, options.head))
    progress = _Progress()
    wanted = Wanted(terms, trust, heads, read_mine(options.mine), options.jobs)
    found = audit(options.sources, wanted, progress.show)
    progress.end()
    _write(found, options)
    print_lines(_lines(found))
    print_lines(f"report    {path}" for path in reports)
    return EXIT_GOOD if found.verified else EXIT_NO


def _require_free(path: Path, *, overwrite: bool) -> None:
    """Refuse a report that cannot be written, before hours of work."""
    if path.exists() and not overwrite:
        raise KeyFileError(
            "FILE_EXISTS", f"{path.name} exists and is left as it is", field=path.name, hint="--overwrite replaces it"
        )
    files.require_writable(path)


def _write(found: Audit, options: argparse.Namespace) -> None:
    write = files.replace if options.overwrite else files.create
    if options.json_report is not None or options.html is not None:
        value = report.value(found)
        if options.json_report is not None:
            write(options.json_report, strict_json.to_text(value) + b"\n", _REPORT_MODE)
        if options.html is not None:
            write(options.html, page(value).encode(), _REPORT_MODE)


def _lines(found: Audit) -> Iterable[str]:
    value = report.value(found)
    read = value["read"]
    yield (
        f"read      {read['items']:,} items: {read['receipts']:,} receipts that hold, {read['failed']:,} that fail"
        + (f", {read['copies']:,} copies" if read["copies"] else "")
    )
    yield from (f"  {name}: the report of an audit, passed over" for name in read["passedOverReports"][:_SHOWN])
    for step in value["steps"]:
        failed = f", {step['failed']:,} FAILED" if step["failed"] else ""
        failed += f", {step['notChecked']:,} not checked" if step["notChecked"] else ""
        yield f"  {step['number']} {step['name']:<10} {step['held']:,} ok{failed}"
    for each in value["failures"][:_SHOWN]:
        where = "NOT READ" if each["step"] is None else f"FAILED at step {each['step']}, {each['name']}"
        yield f"  {each['receipt']}: {where}: {each['message']} [{each['reason']}]"
    if read["failed"] > _SHOWN:
        yield f"  .. and {read['failed'] - _SHOWN:,} more"
    for each in value["notChecked"]:
        yield f"  {report.many(each['receipts'], 'receipt')}: {each['reason']}"
    for name in read["changedFiles"][:_SHOWN]:
        yield f"  {name}: CHANGED while it was read [SOURCE_CHANGED]"
    sessions = value["sessions"]
    one_offs = report.many(sessions["oneOffs"], "one-off")
    yield f"sessions  {sessions['count']:,}, of which {one_offs}; {sessions['notVerified']:,} not whole"
    told = [each for each in sessions["shown"] if not each["oneOff"] or each["findings"]]
    # What wants attention first; heads of the others too, since they are what participants compare.
    for session in sorted(told, key=_is_quiet)[:_SHOWN]:
        yield f"  {session['table']}: {report.many(session['receipts'], 'receipt')}, head {session['heads'][-1]}"
        yield from (
            f"    {each['reason']} at seq {each['seq']}: {each['message']}" for each in session["findings"][:_SHOWN]
        )
        yield from (
            f"    OPEN at seq {each['seq']}: {', '.join(each['waitsFor'])}" for each in session["open"][:_SHOWN]
        )
        yield from (f"    SEALED at seq {seq}: its digest stands for it" for seq in session["sealed"][:_SHOWN])
    for head in value["heads"]:
        where = (
            f"{'the last' if head['last'] else 'seq ' + str(head['seq'])} of {head['table']}"
            if head["found"]
            else "NOT HERE"
        )
        yield f"  head {head['digest']}: {where}"
    if found.statistics is not None:
        tests = value["statistics"]
        flagged = f"{len(tests['flagged'])} flagged at {tests['level']:.0%} for all of them together"
        yield f"tests     {tests['tests']:,}, {flagged}"
        for each in tests["flagged"][:_SHOWN]:
            of = f" {each['of']}" if "of" in each else ""
            yield f"  FLAGGED {each['subject']}{of}: {each['test']}, p {each['p']:.2g}"
    yield from value["verdict"]
    if found.verified:
        levels = ", ".join(
            f"{each['level']} ({report.many(each['sessions'], 'session')})" for each in value["level"]["sessions"]
        )
        yield f"VERIFIED, level {levels}"
        for each in value["level"]["sessions"]:
            yield from (f"  {sentence}" for sentence in report.level_sentences(each))
    else:
        yield "NOT VERIFIED"


def _is_quiet(session: dict[str, Any]) -> bool:
    return bool(session["verified"] and not session["openCount"] and not session["sealed"])


class _Progress:
    """Says on a terminal what goes on; elsewhere nothing, so that logs stay short."""

    def __init__(self) -> None:
        self._shows = sys.stderr.isatty()
        self._next = monotonic() + _SECONDS
        self._width = 0

    def show(self, what: str, done: int) -> None:
        """Say it, at most twice a second."""
        if self._shows and monotonic() >= self._next:
            self._next = monotonic() + _SECONDS
            self._print(f"{done:,} {what}")

    def end(self) -> None:
        """Leave an empty line."""
        if self._width:
            self._print("")

    def _print(self, text: str) -> None:
        print(f"\r{text:<{self._width}}", end="" if text else "\r", file=sys.stderr, flush=True)
        self._width = max(self._width, len(text))


def _jobs(text: str) -> int:
    if not (text.isdecimal() and text.isascii() and 1 <= int(text) <= 512):
        raise argparse.ArgumentTypeError("from 1 to 512 processes")
    return int(text)
