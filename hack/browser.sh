#!/bin/sh
# Runs the tests in a real browser against a visavis of their own, or with --faces draws the
# library's faces. On Debian and its kin Chromium, Node.js and OpenSSL are installed where there are none.
set -eu
cd "$(dirname "$0")/.."

if ! command -v "${CHROMIUM:=chromium}" >/dev/null 2>&1 || ! command -v openssl >/dev/null 2>&1; then
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "Put openssl and chromium on PATH, or what CHROMIUM names." >&2
		exit 1
	fi
	as_root=""
	[ "$(id -u)" -eq 0 ] || as_root="sudo"
	$as_root apt-get update -qq
	DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends chromium openssl
fi
hack/node.sh hack/browser

script=run.js
if [ "${1:-}" = --faces ]; then
	script=faces.js
	shift
else
	LIVEKIT_SERVER=$(${GO:-go} run ./hack/cluster path livekit-server)
	export LIVEKIT_SERVER
fi
cd hack/browser
CHROMIUM=$(command -v "$CHROMIUM") exec node "$script" "$@"
