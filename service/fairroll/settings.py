"""What the operator may set, from the environment: `FAIRROLL_` and the name of the field in upper case."""

from ipaddress import ip_address
from pathlib import Path
from re import compile as compile_pattern
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from fairroll.errors import SettingsError

_ADDRESS = compile_pattern(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\[\]:]+)):([0-9]{1,5})")
_ORIGIN = compile_pattern(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?")


class Address(NamedTuple):
    """Where to listen; port 0 takes a free one."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it. A name other than localhost is not looked up, and so is not."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(value: object) -> Address:
    """Read `127.0.0.1:50051`, `localhost:0` or `[::1]:50051`.

    Raises:
        ValueError: it is not written so.
    """
    match = _ADDRESS.fullmatch(str(value))
    if match is None or int(match[3]) > 65535:
        raise ValueError("write it as host:port, such as 127.0.0.1:50051 or [::1]:50051")
    return Address(match[1] or match[2], int(match[3]))


def parse_origins(value: object) -> tuple[str, ...]:
    """Read `https://table.example,http://localhost:5173`; `*` is every page's origin.

    Raises:
        ValueError: one is not the origin of a page.
    """
    if isinstance(value, tuple):
        return value
    origins = tuple(part.strip() for part in str(value).split(",") if part.strip())
    for origin in origins:
        if origin != "*" and not _ORIGIN.fullmatch(origin):
            raise ValueError("write origins as https://host or http://host:port, separated by commas")
    return origins


class GuardPlace(NamedTuple):
    """Where the guard's rows are: in no place, in a SQLite file, or in a PostgreSQL database."""

    kind: Literal["none", "sqlite", "postgresql"] = "none"
    place: str = ""

    def __str__(self) -> str:
        """Write it without what may hold a password."""
        return f"sqlite:{self.place}" if self.kind == "sqlite" else self.kind


def parse_guard(value: object) -> GuardPlace:
    """Read `none`, `sqlite:PATH` or `postgresql://...`.

    Raises:
        ValueError: it is not written so.
    """
    if isinstance(value, GuardPlace):
        return value
    text = str(value)
    if text == "none":
        return GuardPlace()
    if text.startswith(("postgresql://", "postgres://")):
        return GuardPlace("postgresql", text)
    kind, colon, path = text.partition(":")
    if kind == "sqlite" and colon and path and "\0" not in path:
        return GuardPlace("sqlite", path)
    raise ValueError("write it as none, sqlite:PATH or postgresql://user@host/database")


def parse_file(value: object) -> object:
    """Read the path of a file.

    Raises:
        ValueError: it is empty, which would be the folder that the service runs in.
    """
    if value == "":
        raise ValueError("name a file, or leave it unset")
    return value


# NoDecode: pydantic-settings would read a tuple as JSON.
Listen = Annotated[Address, NoDecode, BeforeValidator(parse_address)]
Place = Annotated[GuardPlace, NoDecode, BeforeValidator(parse_guard)]
File = Annotated[Path, BeforeValidator(parse_file)]
Seconds = Annotated[float, Field(ge=0, le=3600)]


class Settings(BaseSettings):
    """The settings of one process.

    Attributes:
        grpc_address: where gRPC listens.
        rest_address: where REST listens.
        admin_address: where /metrics, /livez and /readyz are.
        keys: the key directory; development keys are made in it where it holds none.
        api_keys: the file of API keys; unset, callers are anonymous.
        cors_origins: origins of web pages that may call REST, separated by commas.
        origin: the service's name, 1..200 bytes; part of every session, and the key list's own.
        guard: the store that lets a seq be used once: `none`, `sqlite:PATH` or `postgresql://...`.
        log_format: `plain` for people, `json` for machines; on stderr, a line a call.
        drain_seconds: from SIGTERM until nothing new is taken, while health and /readyz already say no.
        stop_seconds: how long calls under way may then take.
        connection_age_seconds: after it clients are asked to connect anew, so that new replicas get their share;
            0 never asks. Streams have as long again to end.
        ping_seconds: how often a client may ping an idle connection.
        odds_workers: processes that answer odds, of lower priority than rolls; the first question starts one.
    """

    model_config = SettingsConfigDict(env_prefix="FAIRROLL_", frozen=True, extra="ignore")

    grpc_address: Listen = Address("127.0.0.1", 50051)
    rest_address: Listen = Address("127.0.0.1", 8080)
    admin_address: Listen = Address("127.0.0.1", 9090)
    keys: Path = Path("var/keys")
    api_keys: File | None = None
    cors_origins: Annotated[tuple[str, ...], NoDecode, BeforeValidator(parse_origins)] = ()
    origin: Annotated[str, Field(min_length=1, max_length=200)] = "localhost/v1"
    guard: Place = GuardPlace()
    log_format: Literal["plain", "json"] = "plain"
    drain_seconds: Seconds = 2.0
    stop_seconds: Seconds = 20.0
    connection_age_seconds: Seconds = 300.0
    ping_seconds: Annotated[float, Field(gt=0, le=60)] = 5.0
    odds_workers: Annotated[int, Field(ge=1, le=64)] = 1


def load_settings() -> Settings:
    """Read the environment.

    Raises:
        SettingsError: SETTINGS_INVALID, with every setting that is wrong.
    """
    try:
        return Settings()
    except ValidationError as error:
        wrong = [
            f"FAIRROLL_{'_'.join(map(str, each['loc'])).upper()}: {each['msg'].removeprefix('Value error, ')}"
            for each in error.errors()
        ]
        raise SettingsError("SETTINGS_INVALID", "; ".join(wrong)) from None


def refuse_beyond_loopback(settings: Settings, *, development: bool) -> None:
    """Return if only this machine can reach the service, or if callers are known and the keys are real.

    Args:
        settings: where it listens, and whether there is a file of API keys.
        development: whether its keys were made for trying things out.

    Raises:
        SettingsError: NOT_LOOPBACK, with every address that others could reach.
    """
    listens = {name: getattr(settings, name) for name in ("grpc_address", "rest_address", "admin_address")}
    reachable = [f"FAIRROLL_{name.upper()}={listen}" for name, listen in listens.items() if not listen.is_loopback]
    if not reachable:
        return
    causes = []
    if settings.api_keys is None:
        causes.append("callers are anonymous (no FAIRROLL_API_KEYS)")
    if development:
        causes.append("the keys are development keys")
    if causes:
        raise SettingsError(
            "NOT_LOOPBACK",
            f"{' and '.join(causes)}, so the service listens on loopback addresses only, not on {', '.join(reachable)}",
        )
