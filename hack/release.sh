#!/bin/sh
# Builds what a release hands out into dist/: the product's programs for every platform, the
# chart, a bill of materials of each program, and the checksums of all of it. With
# SIGNING_KEY, the file of an SSH key, the checksums are signed; they are checked with
#   ssh-keygen -Y verify -f allowed_signers -I releases -n file -s checksums.txt.sig < checksums.txt
# Usage: hack/release.sh VERSION
set -eu

version="${1:?the version to stamp, such as 1.4.0}"
case "$version" in
[0-9]*.[0-9]*.[0-9]*) ;;
*)
	echo "the version is to look like 1.4.0, not $version" >&2
	exit 1
	;;
esac
go="${GO:-go}"
dist=dist
rm -rf "$dist"
mkdir -p "$dist"

# The same commit makes the same bytes, but for the chart, in which Helm notes the time of
# packing: nothing else of the machine or of the moment goes in.
epoch="$(git log -1 --format=%ct)"
committed="$(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)"
pack() { # folder
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -C "$dist" -cf - "$1" | gzip -n >"$dist/$1.tar.gz"
	rm -r "${dist:?}/$1"
}

for platform in linux/amd64 linux/arm64 darwin/arm64; do
	os="${platform%/*}" arch="${platform#*/}"
	folder="visavis-$version-$os-$arch"
	mkdir "$dist/$folder"
	for program in visavis kubectl-visavis visavis-speech; do
		[ "$program/$os" = visavis-speech/darwin ] && continue # it loads a library of Linux
		CGO_ENABLED=0 GOOS="$os" GOARCH="$arch" "$go" build -trimpath -buildvcs=false \
			-ldflags "-s -w -X main.built=$version" -o "$dist/$folder/$program" "./cmd/$program"
	done
	cp LICENSE README.md CHANGELOG.md "$dist/$folder/"
	[ "$os" = darwin ] || cp cmd/visavis-speech/LICENSE "$dist/$folder/LICENSE.visavis-speech"
	pack "$folder"
done
sbom="$("$go" tool -n -modfile=hack/tools/go.mod cyclonedx-gomod)"
for program in visavis kubectl-visavis visavis-speech; do
	bill="$dist/$program-$version.cdx.json"
	GOOS=linux GOARCH=amd64 "$sbom" app -json -licenses -noserial -main "cmd/$program" -output "$bill.made" .
	sed "s/\"timestamp\": \"[^\"]*\"/\"timestamp\": \"$committed\"/" "$bill.made" >"$bill"
	rm "$bill.made"
done
$HELM package charts/visavis --version "$version" --app-version "$version" --destination "$dist" >/dev/null

(cd "$dist" && sha256sum -- *.tar.gz *.tgz *.json >checksums.txt)
if [ -n "${SIGNING_KEY:-}" ]; then
	ssh-keygen -q -Y sign -f "$SIGNING_KEY" -n file "$dist/checksums.txt"
else
	echo "checksums.txt is not signed: SIGNING_KEY names no key" >&2
fi
ls -l "$dist"
