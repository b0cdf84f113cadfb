#!/bin/sh
# Writes the lock files with the uv beside PYTHON: tools/lock.sh PATH_OF_UV [--upgrade]
# No index address in them: each machine asks the registry that it is set up for.
set -eu
uv=$1
shift
cd "$(dirname "$0")/.."
compile() {
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" "$@"
}
compile pyproject.toml --extra server --extra postgresql --extra beacon --extra audit --group dev -o requirements/dev.lock "$@"
# The smaller ones take their versions from the big one: all can be installed over each other.
compile pyproject.toml --extra server --extra postgresql -c requirements/dev.lock -o requirements/server.lock
compile --group build -c requirements/dev.lock -o requirements/build.lock
compile requirements/peers.in -o requirements/peers.lock "$@"
