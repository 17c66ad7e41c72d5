#!/bin/sh
# Copies what the speech process needs of this system into a folder that becomes the root
# of an image, where visavis-speech lies already: libespeak-ng, the libraries that it loads, its voices and its copyright.
set -eu

out=$1
for library in /usr/lib/*/libespeak-ng.so.1; do
	[ -e "$library" ] || { echo "There is no libespeak-ng here; run hack/speech.sh." >&2; exit 1; }
	for file in "$library" $(ldd "$library" "$out/visavis-speech" | grep -v ':$' | grep -o '/[^ ]*' | sort -u); do
		mkdir -p "$out/$(dirname "$file")"
		cp -L "$file" "$out/$file"
	done
	cp -R --parents "$(dirname "$library")/espeak-ng-data" "$out"
done
for package in libespeak-ng1 espeak-ng-data; do
	[ ! -e "/usr/share/doc/$package/copyright" ] || cp --parents "/usr/share/doc/$package/copyright" "$out"
done
