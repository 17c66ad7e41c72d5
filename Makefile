# Everything a developer or CI does. `make help` lists the targets.

GO             ?= go
# One flag for all that is compiled, so that builds and tests share what is cached.
export GOFLAGS := $(strip $(filter-out -trimpath,$(GOFLAGS)) -trimpath)
BIN            := bin
TOOLS          := -modfile=hack/tools/go.mod
HELM           := $(GO) tool -modfile=hack/helm/go.mod helm
RUN_ARGS       ?=
TALK_ARGS      ?=
BROWSER_ARGS   ?=
E2E_ARGS       ?=
QUALITY_ARGS   ?=
AGREEMENT_ARGS ?=
KEEP           ?=

.DEFAULT_GOAL := help

## help: list the targets
.PHONY: help
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## run: build and start everything on an embedded database (RUN_ARGS="--addr …")
.PHONY: run
run: build database speech
	$(BIN)/visavis dev --sample $(RUN_ARGS)

## talk: talk with a persona in the terminal, beside `make run` (TALK_ARGS="-persona …")
.PHONY: talk
talk:
	@$(GO) run ./hack/talk $(TALK_ARGS)

## build: build the program, the plugin of kubectl, and the one that speaks, into bin/
.PHONY: build
build:
	$(GO) build -o $(BIN)/ ./cmd/visavis ./cmd/kubectl-visavis
	CGO_ENABLED=0 $(GO) build -o $(BIN)/visavis-speech ./cmd/visavis-speech

## build-cold: how long a build takes from nothing, with a cache of its own
.PHONY: build-cold
build-cold:
	@cache=$$(mktemp -d) && trap 'rm -rf "$$cache"' EXIT && bash -c "time GOCACHE=$$cache $(MAKE) --no-print-directory build"

# What reads digests of images from registries.
CRANE := $(GO) run github.com/google/go-containerregistry/cmd/crane@v0.20.6

## base-image: hold the Dockerfile's base image to the digest that its tag has now (asks the registry)
.PHONY: base-image
base-image:
	@tag="$$(sed -n 's/^ARG GO_IMAGE=\([^@]*\).*/\1/p' Dockerfile)" && digest="$$($(CRANE) digest "$$tag")" && \
		echo "$$digest" | grep -Eqx 'sha256:[0-9a-f]{64}' && \
		sed -i "s|^ARG GO_IMAGE=.*|ARG GO_IMAGE=$$tag@$$digest|" Dockerfile && \
		grep '^ARG GO_IMAGE=' Dockerfile

## database: install PostgreSQL where neither it nor CockroachDB is there
.PHONY: database
database:
	@hack/database.sh

## speech: install libespeak-ng where it is not there
.PHONY: speech
speech:
	@hack/speech.sh

## calendars: install a CalDAV server for tests where there is none
.PHONY: calendars
calendars:
	@hack/calendars.sh

## test: every test, against a real database, Kubernetes API server and media server
# Many tests wait for what takes its time: three packages at once keep two cores busy. What vet
# finds is found by lint.
.PHONY: test
test: database speech calendars chart statements
	$(GO) run ./hack/withdb $(GO) run ./hack/withkube $(GO) test -p=3 -vet=off -timeout=25m ./...

## test-unit: the tests that need neither a database nor Kubernetes
.PHONY: test-unit
test-unit: speech calendars
	$(GO) test $$($(GO) list -test -f '{{.ImportPath}} {{join .Deps " "}}' ./... | \
		awk '$$1 ~ /\.test$$/ && !/store\/database\/(databasetest|embedded)|envtest/ {sub(/\.test$$/, "", $$1); print $$1}')

## race: the tests of what runs side by side, under the race detector
.PHONY: race
race: database speech
	$(GO) run ./hack/withdb $(GO) test -race ./pkg/sessions/conversation/... ./pkg/speech/... ./pkg/eventing/delivery/... ./pkg/eventing/job/... ./pkg/personas/knowledge/... ./pkg/store/limits/... ./pkg/visits/live/... \
		./pkg/provider/livekit/... ./pkg/store/pershard/... ./pkg/base/readthrough/... ./pkg/base/spool/... ./pkg/store/tenant/...

## chart: the Helm chart, linted and tested
# Go remembers results by the files of the module, which the chart is not of.
.PHONY: chart
chart:
	$(HELM) lint --strict --quiet charts/visavis --set database.secretName=directory --set image.repository=visavis
	cd hack/helm && $(GO) test -count=1 ./...

## statements: every SQL statement, by CockroachDB's grammar
.PHONY: statements
# The first time everything is compiled for it.
statements:
	cd hack/cockroach && $(GO) test -count=1 -timeout=30m ./...

## clients: the OpenAPI documents, linted, and the clients that generators make of them, compiled
.PHONY: clients
clients:
	@hack/node.sh hack/clients
	cd hack/clients && $(GO) test -count=1 -timeout=20m ./...

## browser: the tests in a real browser; their pictures are in hack/browser/output
.PHONY: browser
browser: build database speech
	@hack/browser.sh $(BROWSER_ARGS)

## faces: sheets of the library's faces as browsers show them, in hack/browser/output (FACES="0 7": these, larger)
.PHONY: faces
faces:
	@folder=$$(mktemp -d) && $(GO) run ./hack/faces "$$folder" && hack/browser.sh --faces "$$folder" $(FACES); status=$$?; rm -rf "$$folder"; exit $$status

## e2e: the tests on a real Kubernetes (E2E_ARGS="-v -run …", KEEP=1 leaves it up)
.PHONY: e2e
e2e: database
	@GO='$(GO)' KEEP='$(KEEP)' hack/e2e.sh $(E2E_ARGS)

## lint: the linters
.PHONY: lint
lint:
	$(GO) tool $(TOOLS) golangci-lint run ./...
	cd hack/helm && $(GO) tool -modfile=../tools/go.mod golangci-lint run ./...
	cd hack/cockroach && $(GO) tool -modfile=../tools/go.mod golangci-lint run ./...
	cd hack/clients && $(GO) tool -modfile=../tools/go.mod golangci-lint run ./...

## generate: what is derived from the code; changes nothing when it is current
.PHONY: generate
generate:
	$(GO) tool $(TOOLS) controller-gen object crd paths=./operator/apis/... output:crd:dir=crds
	cp crds/*.yaml charts/visavis/crds/
	$(GO) tool $(TOOLS) esbuild web/widget/src/main.js --bundle --minify --target=es2022 --loader:.css=text \
		--legal-comments=none --log-level=warning --outfile=web/widget/widget.js
	$(GO) tool $(TOOLS) esbuild web/widget/src/check/main.js --bundle --minify --format=esm --target=es2022 \
		--legal-comments=none --log-level=warning --outfile=web/widget/check.js
	$(GO) run ./hack/openapi api/openapi

## bench: the figures, as benchstat reads them (make bench quality: those of the answers alone)
.PHONY: bench
bench: database speech
ifeq (,$(filter quality,$(MAKECMDGOALS)))
	$(GO) run ./hack/withdb -durable $(GO) run ./hack/bench
	$(GO) run ./hack/agreement
	$(GO) test -run='^$$' -bench=. -benchtime=5x ./pkg/personas/avatar/portrait
	$(GO) test -count=1 -run=TestTurns -v ./hack/turns | grep '^Benchmark'
	@$(MAKE) --no-print-directory build
	hack/browser.sh --bench
endif

## turns: how the product takes turns in a spoken conversation
.PHONY: turns
turns: speech
	$(GO) test -count=1 -run=TestTurns -v ./hack/turns | grep '^Benchmark\|^---\|_test.go'

## quality: how well questions are answered (QUALITY_ARGS="-sets heldout", "-explain -domain clinic")
.PHONY: quality
quality: database
	@$(GO) run ./hack/withdb $(GO) run ./hack/quality $(QUALITY_ARGS)

## agreement: how far the scorer of assessments agrees with a person (AGREEMENT_ARGS=-explain)
.PHONY: agreement
agreement:
	@$(GO) run ./hack/agreement $(AGREEMENT_ARGS)

## bench-operator: what the operator asks of Kubernetes for 10,000 webhooks; half an hour
.PHONY: bench-operator
bench-operator: database
	$(GO) run ./hack/withdb -durable $(GO) run ./hack/withkube $(GO) run ./hack/bench operator

## chaos: processes killed at random under load, 50 times
.PHONY: chaos
chaos: database
	$(GO) run ./hack/withdb $(GO) test -count=1 -timeout=30m -v ./hack/chaos -kills=50
	$(GO) run ./hack/withdb $(GO) test -count=1 -timeout=20m -run=TestConvergence ./pkg/sessions/crm ./pkg/sessions/notify -histories=100
	$(GO) run ./hack/withdb $(GO) test -count=1 -timeout=60m -run=TestAMoverDiesAnywhere ./pkg/operations/move -everywhere

## release: what a release hands out, in dist/ (make release VERSION=1.4.0 SIGNING_KEY=key)
.PHONY: release
release:
	@GO="$(GO)" HELM="$(HELM)" hack/release.sh "$(VERSION)"
