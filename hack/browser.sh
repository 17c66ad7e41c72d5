#!/bin/sh
# Runs the tests in a real browser against a visavis of their own, or with --faces
# draws the library's faces. On Debian and
# its kin Chromium and Node.js are installed where there are none.
set -eu
cd "$(dirname "$0")/.."

missing=""
command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || missing="nodejs npm"
command -v "${CHROMIUM:=chromium}" >/dev/null 2>&1 || missing="$missing chromium"
if [ -n "$missing" ]; then
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "Put node (20 or newer) and npm on PATH, and chromium or what CHROMIUM names." >&2
		exit 1
	fi
	as_root=""
	[ "$(id -u)" -eq 0 ] || as_root="sudo"
	$as_root apt-get update -qq
	# shellcheck disable=SC2086 # a list of names
	DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing
fi

if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
	echo "node is $(node --version); the tests need 20 or newer." >&2
	exit 1
fi

cd hack/browser
# npm notes what it installed: nothing is to do while the lock file is older.
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
	npm ci --no-audit --no-fund --loglevel=error
	touch node_modules/.package-lock.json
fi
script=run.js
if [ "${1:-}" = --faces ]; then
	script=faces.js
	shift
fi
CHROMIUM=$(command -v "$CHROMIUM") exec node "$script" "$@"
