#!/bin/sh
# Installs packages of Debian, if that can be done unasked: tools/debian.sh PACKAGE...
# One caller after another: apt-get update does not wait for a second one.
set -eu
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "To be installed by hand (on Debian: apt-get install $*)" >&2
    exit 1
fi
exec 9>"${TMPDIR:-/tmp}/fairroll-apt-get.lock"
flock 9
echo "Installing $* with apt-get" >&2
apt-get -qq update >&2
DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends "$@" >&2
