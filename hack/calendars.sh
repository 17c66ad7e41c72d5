#!/bin/sh
# Sees to it that Radicale is there, a CalDAV server that tests write into. On Debian and its kin it is
# installed where there is none. Without it those tests are skipped.
set -eu

command -v radicale >/dev/null 2>&1 && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "Install Radicale to have calendars tested with a real server." >&2
	exit 0
fi
as_root=""
[ "$(id -u)" -eq 0 ] || as_root="sudo"
$as_root apt-get update -qq
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends radicale ||
	echo "Radicale could not be installed: calendars are not tested with a real server." >&2
