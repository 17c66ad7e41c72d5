#!/bin/sh
# Sees to it that a database server is there to be embedded: CockroachDB or
# PostgreSQL. On Debian and its kin PostgreSQL is installed where there is none.
set -eu

command -v cockroach >/dev/null 2>&1 && exit 0
command -v postgres >/dev/null 2>&1 && exit 0
for postgres in /usr/lib/postgresql/*/bin/postgres; do
	[ -x "$postgres" ] && exit 0
done

if ! command -v apt-get >/dev/null 2>&1; then
	echo "Install PostgreSQL 15 or newer, or put cockroach on PATH." >&2
	exit 1
fi
as_root=""
[ "$(id -u)" -eq 0 ] || as_root="sudo"
# The package would start a cluster of its own, which nothing here needs.
$as_root mkdir -p /etc/postgresql-common
[ -e /etc/postgresql-common/createcluster.conf ] ||
	echo "create_main_cluster = false" | $as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
$as_root apt-get update -qq
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends postgresql
