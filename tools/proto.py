"""Makes the Python code of the contract from proto/, and checks it.

    python tools/proto.py             writes service/fairroll/v1/
    python tools/proto.py --check     exits 1 and names the files, where what is checked in differs
    python tools/proto.py --lint      buf's lint on the .proto files

The proto path equals the import path (fairroll/v1), so generated imports work as they are. google/rpc comes from
the googleapis-common-protos wheel, in Python as in the compiler's include path.
"""

import argparse
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet

ROOT = Path(__file__).resolve().parent.parent
PROTOS = ROOT / "proto"
PACKAGE = Path("fairroll/v1")
GENERATED = ROOT / "service" / PACKAGE
SITE_PACKAGES = Path(sysconfig.get_path("purelib"))
SCRIPTS = Path(sysconfig.get_path("scripts"))

INIT = '"""Generated from proto/fairroll/v1 by `make proto`: messages, stubs, descriptors with comments."""\n'


def compile_protos(out: Path, *options: str) -> None:
    """Runs protoc on all our .proto files with `options`; exits with its messages when it refuses one."""
    files = sorted(path.relative_to(PROTOS).as_posix() for path in PROTOS.rglob("*.proto"))
    command = [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={PROTOS}", f"--proto_path={SITE_PACKAGES}"]
    done = subprocess.run([*command, *options, *files], cwd=out, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)


def described(out: Path, *options: str) -> Path:
    """Writes the descriptors of our files, with comments, into the folder `out`; returns the file's path."""
    path = out / "compiled.binpb"
    compile_protos(out, f"--descriptor_set_out={path}", "--include_source_info", *options)
    return path


def comments_only(descriptors: bytes) -> bytes:
    """Drops source locations without a comment, and all line numbers: a moved line is no change of the contract."""
    files = FileDescriptorSet.FromString(descriptors)
    for file in files.file:
        kept = [at for at in file.source_code_info.location if at.leading_comments or at.trailing_comments]
        for location in kept:
            del location.span[:]
            del location.leading_detached_comments[:]
        del file.source_code_info.location[:]
        file.source_code_info.location.extend(kept)
    return files.SerializeToString(deterministic=True)


def generate(out: Path) -> dict[str, bytes]:
    """All generated files by name, made in the folder `out`."""
    compile_protos(
        out,
        f"--plugin=protoc-gen-mypy={SCRIPTS / 'protoc-gen-mypy'}",
        f"--plugin=protoc-gen-mypy_grpc={SCRIPTS / 'protoc-gen-mypy_grpc'}",
        "--python_out=.",
        "--grpc_python_out=.",
        "--mypy_out=.",
        "--mypy_grpc_out=.",
    )
    # A file without a service gives stubs that say nothing.
    empty = [path for path in (out / PACKAGE).glob("*_grpc.py*") if b"_to_server" not in path.read_bytes()]
    files = {path.name: path.read_bytes() for path in (out / PACKAGE).iterdir() if path not in empty}
    files["__init__.py"] = INIT.encode()
    files["descriptors.binpb"] = comments_only(described(out).read_bytes())
    return files


def checked_in() -> dict[str, bytes]:
    """What is in the generated folder now; empty where there is none."""
    return {path.name: path.read_bytes() for path in GENERATED.glob("*") if path.is_file()}


def write(files: dict[str, bytes]) -> int:
    """Makes the generated folder hold exactly `files`."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    have = checked_in()
    for name in have.keys() - files.keys():
        (GENERATED / name).unlink()
    for name, content in files.items():
        if have.get(name) != content:
            (GENERATED / name).write_bytes(content)
    print(f"{len(files)} files in {GENERATED.relative_to(ROOT)}")
    return 0


def check(files: dict[str, bytes]) -> int:
    """Names the files that differ from `files`."""
    have = checked_in()
    different = sorted(name for name in have.keys() | files.keys() if have.get(name) != files.get(name))
    for name in different:
        state = "missing" if name not in have else "not generated" if name not in files else "out of date"
        print(f"{(GENERATED / name).relative_to(ROOT)}: {state}", file=sys.stderr)
    if different:
        print("Generated code is not what proto/ gives. Run: make proto", file=sys.stderr)
    return 1 if different else 0


def lint(out: Path) -> int:
    """Buf's lint. It gets what protoc compiled, imports included, so it needs no remote module."""
    image = described(out, "--include_imports")
    command = [str(SCRIPTS / "buf"), "lint", str(image), "--path", PACKAGE.parts[0]]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def main() -> int:
    """Runs what the command line asks for; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="compare instead of writing")
    mode.add_argument("--lint", action="store_true", help="lint the .proto files")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        if wanted.lint:
            return lint(out)
        return check(generate(out)) if wanted.check else write(generate(out))


if __name__ == "__main__":
    sys.exit(main())
