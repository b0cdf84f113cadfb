"""The report as one page: HTML, CSS and SVG in one file, that loads nothing and runs nothing.

Made from the report's JSON alone. Every text of it may come from someone who means ill: names, labels, notation and
file names pass through `_text`, which leaves neither markup nor a character that turns the direction of writing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from math import sqrt
from typing import Any

from fairroll.audit.asked import asked
from fairroll.audit.plots import Bar, Dot, bars, dots
from fairroll.audit.report import level_sentences, many
from fairroll.cli.output import printable

_SHOWN_FAILURES = 100
_SHOWN_SESSIONS = 100
_SHOWN_FINDINGS = 20
_BARS = 50
_DOTS = 30
_TESTS = {
    "chi-square": "counts of faces against equal chances",
    "Kolmogorov-Smirnov": "the largest distance from the uniform distribution",
    "runs": "how often low and high follow one another; half of the time is expected",
    "serial correlation": "whether a face tells of the next one of the same size",
    "gap": "whether the chance of the top face depends on how long ago it came",
    "duplicates": "how often a face comes twice in a row",
    "interplay correlation": "whether a face tells of the next one of another die or actor",
    "luck": "the mean place of outcomes among all that their checks could give; 1/2 is expected",
    "faces": "whether faces are high or low on the whole",
}


def page(value: dict[str, Any]) -> str:
    """Return the page of a report."""
    parts = [
        _verdict(value),
        _level(value["level"]),
        _checked(value),
        _failures(value),
        _sessions(value),
        _evidence(value),
        _statistics(value["statistics"]),
        "<h2>What this cannot show</h2><ul>" + "".join(f"<li>{_text(each)}</li>" for each in value["limits"]) + "</ul>",
        (
            "<p class=soft>Rules were run by the engines "
            f"{_text(', '.join(value['engines']))}. The same receipts give the same report.</p>"
        ),
    ]
    style = files("fairroll.audit").joinpath("page.css").read_text()
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        # Even if a text should pass as markup, it could load and run nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>Audit of rolls</title><style>{style}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _text(text: object) -> str:
    """Return text that is text and nothing else, on one line and in its own direction."""
    return escape(printable(str(text)))


def _name(text: object) -> str:
    return f"<bdi>{_text(text)}</bdi>"


def _verdict(value: dict[str, Any]) -> str:
    good = value["verified"]
    sources = ", ".join(map(_name, value["sources"][:10]))
    return (
        f"<h1>Audit of rolls</h1><p class=soft>Of {sources}</p>"
        f'<div class="verdict {"good" if good else "bad"}" role="status">'
        f"<strong>{'Verified' if good else 'Not verified'}</strong>"
        + "".join(f"<p>{_text(each)}</p>" for each in value["verdict"])
        + "</div>"
    )


def _level(level: dict[str, Any]) -> str:
    if not level["sessions"]:
        return ""
    parts = ["<h2>What that is worth</h2>"]
    for each in level["sessions"]:
        count = many(each["sessions"], "session")
        parts.append(f"<p><b>{_text(each['level'])}</b>, of {count} that verified:</p>{_list(level_sentences(each))}")
    return "".join(parts)


def _list(sentences: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{_text(each)}</li>" for each in sentences) + "</ul>"


def _checked(value: dict[str, Any]) -> str:
    read = value["read"]
    rows = [
        [f"{each['number']} {_text(each['name'])}", *(_count(each[name]) for name in ("held", "failed", "notChecked"))]
        for each in value["steps"]
    ]
    told = [
        f"{read['items']:,} items were read: {read['receipts']:,} receipts hold, {read['failed']:,} items fail.",
        f"{read['copies']:,} receipts were there more than once; each counts once." if read["copies"] else "",
        f"{read['savedBeforeRevocation']:,} stand only because they were saved before a key was revoked."
        if read["savedBeforeRevocation"]
        else "",
        f"{read['passedOverFiles']:,} files of other kinds were passed over." if read["passedOverFiles"] else "",
        *(
            f"Passed over, the report of an audit: {_name(each)}"
            for each in read["passedOverReports"][:_SHOWN_FINDINGS]
        ),
    ]
    lists = "".join(
        f"<li>{_name(each['origin'])}, version {each['listVersion']:,}, {each['keys']} keys</li>"
        for each in value["keyLists"]
    )
    changed = _list(f"changed while it was read: {each}" for each in read["changedFiles"][:_SHOWN_FAILURES])
    return (
        "<h2>What was checked</h2>"
        + "".join(f"<p>{each}</p>" for each in told if each)
        + _table(["step", "hold", "fail", "not checked"], rows, numbers=(1, 2, 3))
        + (f"<p>Judged by the newest key list of each origin:</p><ul>{lists}</ul>" if lists else "")
        + (changed if read["changedFiles"] else "")
    )


def _failures(value: dict[str, Any]) -> str:
    if not value["failures"] and not value["notChecked"] and not value["keyListErrors"]:
        return ""
    rows = [
        [
            _name(each["receipt"]),
            "not read" if each["step"] is None else f"{each['step']} {_text(each['name'])}",
            f"{_text(each['message'])} <code>{_text(each['reason'])}</code>",
            _claims(each.get("claims")),
        ]
        for each in value["failures"][:_SHOWN_FAILURES]
    ]
    more = value["read"]["failed"] - len(rows)
    sums = [
        [
            "not read" if each["step"] is None else f"{each['step']} {_text(each['name'])}",
            _text(each["reason"]),
            _count(each["receipts"]),
        ]
        for each in value["failuresByReason"]
    ]
    sums += [["8 rules", _text(each["reason"]), _count(each["receipts"])] for each in value["notChecked"]]
    return (
        "<h2>What failed, and where</h2>"
        + (_table(["step", "reason", "items"], sums, numbers=(2,)) if sums else "")
        + (_table(["where", "step", "why", "says of itself"], rows) if rows else "")
        + (f"<p class=soft>and {more:,} more, of which the JSON report has the first.</p>" if more > 0 else "")
        + _list(f"key list: {each['message']} [{each['reason']}]" for each in value["keyListErrors"])
    )


def _claims(claims: dict[str, Any] | None) -> str:
    return "" if claims is None else f"{_name(claims['table'])}, seq {claims['seq']}"


def _sessions(value: dict[str, Any]) -> str:
    sessions = value["sessions"]
    if not sessions["count"]:
        return ""
    rows = []
    for each in sessions["shown"][:_SHOWN_SESSIONS]:
        told = [
            f"{_text(of['reason'])} at seq {of['seq']}: {_text(of['message'])}"
            for of in each["findings"][:_SHOWN_FINDINGS]
        ]
        told += [
            f"waits at seq {of['seq']}: {_text(', '.join(of['waitsFor']))}" for of in each["open"][:_SHOWN_FINDINGS]
        ]
        if each["sealed"]:
            told.append(f"sealed at seq {', '.join(map(str, each['sealed'][:_SHOWN_FINDINGS]))}: not opened yet")
        state = f"verified, {_text(each['level'])}" if each["verified"] else "<span class=flagged>not verified</span>"
        guard = "guarded" if each["guarded"] else "no guard"
        rows.append(
            [
                f"{_name(each['table'])}<br><small>tenant {_name(each['tenant'])}</small>",
                _count(each["receipts"]),
                f"{state}<br><small>{guard}{', closed' if each['closed'] else ''}</small>",
                "<br>".join([*told, f"<small>head <code>{_text(each['heads'][-1])}</code></small>"]),
            ]
        )
    heads = _list(
        f"Head {each['digest']}: "
        + (
            f"{'the last' if each['last'] else 'seq ' + str(each['seq'])} of {each['table']}"
            if each["found"]
            else "not here"
        )
        for each in value["heads"]
    )
    return (
        "<h2>Sessions</h2>"
        f"<p>{many(sessions['count'], 'session')}, of which one-off rolls: {sessions['oneOffs']:,}; "
        f"{sessions['notVerified']:,} did not verify whole.</p>"
        + (_table(["table", "receipts", "state", "found"], rows, numbers=(1,)) if rows else "")
        + ("<h3>Heads that other participants named</h3>" + heads if value["heads"] else "")
    )


def _evidence(value: dict[str, Any]) -> str:
    if not value["evidence"]:
        return ""
    shown = []
    for each in value["evidence"]:
        what = "Two requests for one seq" if each["differentRequests"] else "Two receipts for one request"
        if each["reason"] == "BRANCH":
            what = "One decision answered more than once"
        cards = "".join(
            f"<div><p>{_name(of['receipt'])}</p><p>digest <code>{of['digest']}</code></p>"
            f"<p>request <code>{of['requestDigest']}</code></p>"
            f"<p>dice {_text(', '.join(of['dice'])) or 'none'}</p>"
            f"<pre>{_text(' '.join(map(asked, of['asked'])))}</pre></div>"
            for of in each["receipts"]
        )
        shown.append(
            f"<h3>{what}: {_name(each['table'])}, seq {each['seq']}</h3><p>{_whose(guarded=each['guarded'])}</p>"
            f"<div class=pair>{cards}</div>"
        )
    return (
        "<h2>Evidence</h2><p>The operator's key signed each of these, and they exclude one another. "
        "The JSON report holds the signed envelopes: anybody can check them.</p>" + "".join(shown)
    )


def _whose(*, guarded: bool) -> str:
    if guarded:
        return "The operator's doing: by its own word a guard lets each seq be used once, and each answer given once."
    return (
        "No guard was in use, so this service signs whatever it is asked: the doing of whoever holds the caller's "
        "credentials, or of the operator. Nobody can tell which of them the table went by."
    )


def _statistics(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    flagged = [[_subject(each), _text(each["test"]), _p(each["p"]), _p(each["adjusted"])] for each in found["flagged"]]
    placed = many(found["outcomes"]["placed"], "outcome")
    return (
        "<h2>Statistics at a glance</h2>"
        f"<p>{many(found['draws'], 'draw')}, {placed} placed among their exact odds; "
        f"{many(found['tests'], 'test')} could be made, {found['tooLittle']:,} had too few rolls to say anything.</p>"
        + (
            "<p class=flagged>Flagged: fair dice would hardly give this, even among so many tests.</p>"
            + _table(["of", "test", "p", "p adjusted"], flagged, numbers=(2, 3))
            if flagged
            else "<p>Nothing is flagged.</p>"
        )
        + f"<p class=soft>A test is flagged where its p-value, adjusted for all {found['tests']:,} tests by Holm's "
        f"method, is below {found['level']:.0%}: so fair dice are flagged in at most one report of a hundred.</p>"
        + "<h2>Dice</h2>"
        "<p class=soft>Bars are counts; a dark mark is what is expected, and the line through it is where 99 of 100 "
        "fair counts lie. All draws count, rerolls and explosions too: each is uniform, whatever came before it.</p>"
        + ("".join(map(_die, found["dice"])) or "<p>No dice were rolled.</p>")
        + "<h3>Between dice and actors</h3>"
        + _tests(found["all"])
        + _outcomes(found["outcomes"])
        + _names("Actors", found["actors"])
        + _names("Labels", found["labels"])
    )


def _die(die: dict[str, Any]) -> str:
    shown = [
        Bar(f"{low}" if low == high else f"{low}-{high}", each["count"], each["expected"])
        for each in die["faces"]
        for low, high in [each["faces"]]
    ]
    rows = [[_text(bar.label), _count(bar.count), f"{bar.expected:,.1f}"] for bar in shown]
    return (
        f"<h3>d{die['sides']}: {die['draws']:,} draws</h3>"
        + bars(f"Faces of the d{die['sides']}: counts, and what is expected", shown, die["draws"])
        + "<details><summary>Counts</summary>"
        + _table(["face", "count", "expected"], rows, numbers=(1, 2))
        + "</details>"
        + _tests(die["tests"])
    )


def _tests(tests: Sequence[dict[str, Any]]) -> str:
    rows = [
        [
            _text(each["test"]) + f"<br><small>{_explained(each['test'])}</small>",
            _count(each["count"]),
            "" if each["statistic"] is None else f"{each['statistic']:.4g}",
            "too few" if each["p"] is None else _p(each["p"]),
            _p(each["adjusted"]) + (" <span class=flagged>FLAGGED</span>" if each["flagged"] else ""),
        ]
        for each in tests
    ]
    return _table(["test", "of", "statistic", "p", "p adjusted"], rows, numbers=(1, 2, 3, 4)) if rows else ""


def _explained(test: str) -> str:
    return _text(_TESTS.get(test, "how often the same faces came again in the same order"))


def _outcomes(found: dict[str, Any]) -> str:
    if not found["placed"]:
        return "<h2>Outcomes</h2><p>No outcome could be compared with exact odds.</p>"
    histogram = found["histogram"]
    count = len(histogram)
    shown = [Bar(f"{index / count:.2f}", each, found["placed"] / count) for index, each in enumerate(histogram)]
    systems = [
        [
            _text(each["system"]),
            _count(each["placed"]),
            f"{each['meanPlace']:.4f}",
            *(_p(of["adjusted"]) for of in each["tests"]),
        ]
        for each in found["systems"]
    ]
    return (
        "<h2>Outcomes</h2>"
        "<p>Each outcome has a place between 0 (worst) and 1 (best) among all that its own check could give, by exact "
        f"odds; so rolls of different checks can be put together. Fair rolls fall everywhere alike. "
        f"{found['placed']:,} outcomes of {found['differentChecksWithOdds']:,} different checks were placed"
        f"{', ' + format(found['withoutOdds'], ',') + ' have no exact odds here' if found['withoutOdds'] else ''}. "
        f"Their mean place is {found['meanPlace']:.4f}.</p>"
        + bars("Places of outcomes among what their checks could give, from 0 to 1", shown, found["placed"])
        + _tests(found["tests"])
        + _table(["system", "outcomes", "mean place", "p of distribution", "p of luck"], systems, numbers=(1, 2, 3, 4))
        + "".join(map(_check, found["checks"]))
    )


def _check(check: dict[str, Any]) -> str:
    worth = [each for each in check["values"] if _worth(each, check["rolls"])]
    first = [_short(each["value"]) for each in worth]
    labels = first if len(set(first)) == len(first) else [each["value"].strip("[]") for each in worth]
    every = [Bar(label, each["count"], each["expected"]) for label, each in zip(labels, worth, strict=True)]
    shown = _grouped(every)
    left = len(check["values"]) - len(every)
    test = check["test"]
    p = "too few to judge" if test["p"] is None else f"chi-square p {_p(test['p'])}, adjusted {_p(test['adjusted'])}"
    return (
        f"<h3><code>{_text(asked(check['check']))}</code>: {check['rolls']:,} rolls</h3>"
        + bars("Outcomes of this check: counts, and what is expected", shown, check["rolls"])
        + f"<p class={'flagged' if test['flagged'] else 'soft'}>{p}"
        + (f"; {left:,} rare outcomes are not drawn" if left else "")
        + "</p>"
    )


def _worth(value: dict[str, Any], rolls: int) -> bool:
    return bool(value["count"]) or value["expected"] * 200 >= rolls


def _grouped(shown: Sequence[Bar]) -> list[Bar]:
    """Put neighbours together where there are too many to tell apart."""
    size = -(-len(shown) // _BARS)
    groups = [shown[start : start + size] for start in range(0, len(shown), size)]
    return [
        Bar(group[0].label, sum(each.count for each in group), sum(each.expected for each in group)) for group in groups
    ]


def _short(value: str) -> str:
    """Return the first number of a value: the total or the result."""
    return value.strip("[]").split(",")[0]


def _names(title: str, names: dict[str, Any]) -> str:
    shown = names["shown"]
    if not shown:
        return ""
    placed = [each for each in shown if each["placed"]][:_DOTS]
    plotted = [
        Dot(
            _called(each["name"]),
            each["meanPlace"],
            2.576 / sqrt(12 * each["placed"]),
            any(test["flagged"] for test in each["tests"]),
        )
        for each in placed
    ]
    rows = [
        [
            _name(_called(each["name"])),
            _count(each["checks"]),
            _count(each["draws"]),
            "" if each["meanPlace"] is None else f"{each['meanPlace']:.4f}",
            *(_adjusted(test) for test in each["tests"]),
        ]
        for each in shown
    ]
    more = names["count"] - len(shown)
    return (
        f"<h2>{title}</h2>"
        "<p>The mean place of outcomes (1/2 is expected); the line is where 99 of 100 fair means lie.</p>"
        + (dots(f"{title}: mean place of outcomes", plotted) if plotted else "")
        + _table(
            ["name", "checks", "draws", "mean place", "luck: p adjusted", "faces: p adjusted"],
            rows,
            numbers=(1, 2, 3, 4, 5),
        )
        + (f"<p class=soft>and {more:,} more.</p>" if more else "")
    )


def _called(name: str | None) -> str:
    return "(all others)" if name is None else printable(name)


def _adjusted(test: dict[str, Any]) -> str:
    return _p(test["adjusted"]) + (" <span class=flagged>FLAGGED</span>" if test["flagged"] else "")


def _subject(test: dict[str, Any]) -> str:
    of = f" {_name(_called(test['of']))}" if "of" in test else ""
    return _text(test["subject"]) + of


def _p(number: float | None) -> str:
    if number is None:
        return "-"
    return f"{number:.3f}" if number >= 0.001 else f"{number:.1e}"


def _count(number: int) -> str:
    return f"{number:,}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Return a table; cells are markup, whose texts went through `_text`."""

    def cell(tag: str, index: int, content: str) -> str:
        return f"<{tag}{' class=n' if index in numbers else ''}{' scope=col' if tag == 'th' else ''}>{content}</{tag}>"

    heads = "".join(cell("th", index, _text(each)) for index, each in enumerate(head))
    body = "".join(
        "<tr>" + "".join(cell("td", index, each) for index, each in enumerate(row)) + "</tr>" for row in rows
    )
    return f"<div class=wide><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
