#!/bin/sh
# Sees to it that libespeak-ng is there to be spoken with. On Debian and its kin it is
# installed where there is none. Without it the product runs, and says nothing aloud.
set -eu

for library in /usr/lib/*/libespeak-ng.so.1 /usr/lib/libespeak-ng.so.1 /usr/lib64/libespeak-ng.so.1 /usr/local/lib/libespeak-ng.so.1; do
	[ -e "$library" ] && exit 0
done

if ! command -v apt-get >/dev/null 2>&1; then
	echo "Install libespeak-ng to have avatars speak aloud." >&2
	exit 0
fi
as_root=""
[ "$(id -u)" -eq 0 ] || as_root="sudo"
$as_root apt-get update -qq
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends libespeak-ng1
