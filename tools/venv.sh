#!/bin/sh
# Makes a virtual environment from the lock files; does nothing when it already is as they say.
#   tools/venv.sh FOLDER server|dev|peers          PYTHON=python3.12 chooses the interpreter for a new one
# Needs nothing but a POSIX shell and Python with its venv module.
set -eu
folder=$1
kind=$2
cd "$(dirname "$0")/.."

case $kind in
    server) locks="build server" ;;
    dev) locks="dev" ;;
    peers) locks="peers" ;;
    *) echo "tools/venv.sh: unknown kind $kind" >&2; exit 2 ;;
esac

# The stamp holds what was installed, from which locks, and where: a moved folder has wrong paths inside.
# One checksum for server and dev, so that a dev environment is seen to serve as well.
case $kind in
    peers) checksum=$(cat requirements/peers.lock | cksum) ;;
    *) checksum=$(cat requirements/build.lock requirements/server.lock requirements/dev.lock pyproject.toml | cksum) ;;
esac
state="$(echo "$checksum" | tr ' ' '-') $(pwd)"
stamp=$folder/.fairroll
have=$(cat "$stamp" 2>/dev/null || true)
works() { "$folder/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
if works; then
    [ "$have" = "$kind $state" ] && exit 0
    [ "$kind" = server ] && [ "$have" = "dev $state" ] && exit 0
fi

recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
if [ -z "${PYTHON:-}" ]; then
    for PYTHON in python3 python3.14 python3.13 python3.12 python3.11 ''; do
        [ -n "$PYTHON" ] && recent "$PYTHON" && break
    done
fi
case $have in '' | *" $(pwd)") moved= ;; *) moved=yes ;; esac
if [ -n "$moved" ] || ! works; then
    if [ -z "$PYTHON" ] || ! recent "$PYTHON"; then
        echo "fairroll needs Python 3.11 or newer${PYTHON:+, and $PYTHON is not}. Name one: make PYTHON=/path/to/python3.11" >&2
        exit 1
    fi
    if ! "$PYTHON" -c 'import venv, ensurepip' 2>/dev/null; then
        echo "$PYTHON has no venv module. On Debian and Ubuntu: apt-get install python3-venv" >&2
        exit 1
    fi
    echo "Making $folder with $("$PYTHON" -V)"
    "$PYTHON" -m venv --clear "$folder"
fi

rm -f "$stamp"
# Twice quiet: errors only. Its warnings are about the machine's own settings.
pip() { "$folder/bin/python" -m pip install -qq --no-input --disable-pip-version-check "$@"; }
echo "Installing the $kind packages into $folder (a minute or two the first time)"
for lock in $locks; do
    # PEP 517 for the peers' sake: one comes as old-style source only.
    pip --use-pep517 --require-hashes -r "requirements/$lock.lock"
done
if [ "$kind" != peers ]; then
    # Its dependencies and its build tool are in the locks.
    pip --no-deps --no-build-isolation --editable .
fi
echo "$kind $state" >"$stamp"
