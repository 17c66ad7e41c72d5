#!/bin/sh
# Gives the cluster the images that hack/e2e runs. With a FOLDER they are only packed,
# into files there, under names that begin with VISAVIS_E2E_IMAGES.
#
#   hack/e2e-images.sh [FOLDER]
set -eu
folder=${1:+$(mkdir -p "$1" && cd "$1" && pwd)}
cd "$(dirname "$0")/.."

pack() { # NAME PROGRAM
	${GO:-go} run ./hack/cluster image ${folder:+--file "$folder/$(echo "$1" | tr : -).tar"} "${folder:+${VISAVIS_E2E_IMAGES:-}}$1" "$2"
}

pack visavis:e2e ./cmd/visavis
pack visavis:e2e-next ./cmd/visavis
pack receiver:e2e ./hack/receiver
pack traefik:e2e traefik
