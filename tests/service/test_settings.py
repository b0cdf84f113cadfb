"""Settings from the environment."""

import os
from pathlib import Path

import pytest

from fairroll.errors import SettingsError
from fairroll.settings import Address, Settings, load_settings, parse_address, refuse_beyond_loopback


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("FAIRROLL_")]:
        monkeypatch.delenv(name)


def test_without_an_environment_the_ports_of_the_readme_are_taken() -> None:
    settings = load_settings()
    assert [str(each) for each in (settings.grpc_address, settings.rest_address, settings.admin_address)] == [
        "127.0.0.1:50051",
        "127.0.0.1:8080",
        "127.0.0.1:9090",
    ]
    assert (settings.origin, settings.keys) == ("localhost/v1", Path("var/keys"))
    refuse_beyond_loopback(settings, development=True)


def test_each_setting_is_read_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRROLL_GRPC_ADDRESS", "[::1]:1")
    monkeypatch.setenv("FAIRROLL_ORIGIN", "rolls.example/v1")
    monkeypatch.setenv("FAIRROLL_KEYS", "/elsewhere")
    monkeypatch.setenv("FAIRROLL_DRAIN_SECONDS", "0.5")
    monkeypatch.setenv("FAIRROLL_LOG_FORMAT", "json")
    settings = load_settings()
    assert (settings.grpc_address, settings.origin, settings.keys) == (
        Address("::1", 1),
        "rolls.example/v1",
        Path("/elsewhere"),
    )
    assert (settings.drain_seconds, settings.log_format) == (0.5, "json")


def test_all_that_is_wrong_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRROLL_REST_ADDRESS", "8080")
    monkeypatch.setenv("FAIRROLL_DRAIN_SECONDS", "soon")
    monkeypatch.setenv("FAIRROLL_ORIGIN", "")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert caught.value.reason == "SETTINGS_INVALID"
    for name in ("FAIRROLL_REST_ADDRESS", "FAIRROLL_DRAIN_SECONDS", "FAIRROLL_ORIGIN"):
        assert name in caught.value.message


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:0", "127.0.0.1", 0),
        ("localhost:65535", "localhost", 65535),
        ("[::1]:80", "::1", 80),
        ("0.0.0.0:80", "0.0.0.0", 80),
    ],
)
def test_an_address_is_written_and_read_back(text: str, host: str, port: int) -> None:
    assert parse_address(text) == Address(host, port)
    assert str(parse_address(text)) == text


@pytest.mark.parametrize("text", ["", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "::1:80", "a:65536", "a:-1", "a:1\n"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="host:port"):
        parse_address(text)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.255.0.9", "::1", "localhost"])
def test_loopback_addresses_are_served(host: str) -> None:
    refuse_beyond_loopback(Settings(grpc_address=Address(host, 1)), development=True)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "10.0.0.1", "example.com", "localhost.example.com", "::ffff:10.0.0.1"]
)
@pytest.mark.parametrize("name", ["grpc_address", "rest_address", "admin_address"])
def test_any_other_address_is_refused_by_its_variable(name: str, host: str) -> None:
    with pytest.raises(SettingsError) as caught:
        refuse_beyond_loopback(Settings.model_validate({name: Address(host, 1)}), development=False)
    assert caught.value.reason == "NOT_LOOPBACK"
    assert f"FAIRROLL_{name.upper()}=" in caught.value.message


def test_the_page_on_configuration_names_every_setting_and_what_it_is_when_unset() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "configuration.md").read_text()
    of_the_service = page.partition("\n## ")[0]
    rows = [
        tuple(cell.strip(" `") for cell in line.split("|")[1:3])
        for line in of_the_service.splitlines()
        if "`FAIRROLL_" in line
    ]
    settings = Settings()
    unset = {name: getattr(settings, name) for name in Settings.model_fields}
    # What is nothing when it is unset stands as an empty cell.
    assert rows == [(f"FAIRROLL_{name.upper()}", str(value) if value else "") for name, value in unset.items()]


def test_known_callers_and_real_keys_may_be_reached_from_elsewhere() -> None:
    settings = Settings(grpc_address=Address("0.0.0.0", 1), api_keys=Path("api-keys.json"))
    refuse_beyond_loopback(settings, development=False)


def test_development_keys_stay_on_loopback_whoever_calls() -> None:
    settings = Settings(rest_address=Address("0.0.0.0", 1), api_keys=Path("api-keys.json"))
    with pytest.raises(SettingsError, match="development keys"):
        refuse_beyond_loopback(settings, development=True)


def test_origins_of_pages_are_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRROLL_CORS_ORIGINS", "https://table.example, http://localhost:5173")
    assert load_settings().cors_origins == ("https://table.example", "http://localhost:5173")


def test_what_is_no_origin_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRROLL_CORS_ORIGINS", "https://table.example/path")
    with pytest.raises(SettingsError, match="FAIRROLL_CORS_ORIGINS"):
        load_settings()


def test_an_empty_name_of_the_file_of_api_keys_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRROLL_API_KEYS", "")
    with pytest.raises(SettingsError, match=r"FAIRROLL_API_KEYS: .*name a file, or leave it unset"):
        load_settings()
