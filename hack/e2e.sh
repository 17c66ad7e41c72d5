#!/bin/sh
# Runs the tests on a real Kubernetes: starts one (see docs/cluster.md), gives it
# images of the tree, runs hack/e2e and stops it. KEEP=1 leaves it running.
# With VISAVIS_E2E_IMAGES the cluster has the images already, under names that
# begin so.
set -eu
cd "$(dirname "$0")/.."
go=${GO:-go}

stop() { [ "${KEEP:-}" = 1 ] || "$go" run ./hack/cluster down; }
trap stop EXIT
trap 'exit 130' INT TERM

"$go" run ./hack/cluster up
[ -n "${VISAVIS_E2E_IMAGES:-}" ] || GO=$go hack/e2e-images.sh
environment=$("$go" run ./hack/cluster env)
(
	eval "$environment"
	export VISAVIS_E2E=1
	"$go" run ./hack/withdb "$go" test -count=1 -timeout=30m ./hack/e2e "$@"
)
