#!/bin/sh
# Sees to it that Node.js is there, installed where there is none on Debian and its kin, and
# that a folder has the packages of its lock file.
# Usage: hack/node.sh FOLDER
set -eu

if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "Put node (20 or newer) and npm on PATH." >&2
		exit 1
	fi
	as_root=""
	[ "$(id -u)" -eq 0 ] || as_root="sudo"
	$as_root apt-get update -qq
	DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends nodejs npm
fi
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
	echo "node is $(node --version); 20 or newer is needed." >&2
	exit 1
fi

cd "$1"
# npm notes what it installed: nothing is to do while the lock file is older.
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
	npm ci --no-audit --no-fund --loglevel=error
	touch node_modules/.package-lock.json
fi
