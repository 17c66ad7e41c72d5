# The product as an image: one static program and the certificates it trusts; beside it the
# one that speaks, with the library that it loads (under the GPL, cmd/visavis-speech/LICENSE).
# `go run ./hack/cluster image` packs the same without Docker.
#
# The builder is held to its content: the digest is that of the tag's index of all platforms.
# For a newer one change the tag and run `make base-image`, which asks the registry.
ARG GO_IMAGE=golang:1.26.8@sha256:0f063af2d465d8dcae54cce04278ada488b96f77b42449c8d071e47d016cc65a
FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# What `visavis --version` says: the chart's own version unless given.
ARG VERSION=""
RUN version="${VERSION:-$(sed -n 's/^appVersion: "\(.*\)"/\1/p' charts/visavis/Chart.yaml)}" && \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.built=$version" -o /out/visavis ./cmd/visavis && \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w" -o /out/visavis-speech ./cmd/visavis-speech && \
    mkdir -m 1777 /out/tmp
# What the speech process loads: libespeak-ng, what that loads, and its voices.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends libespeak-ng1 && hack/speech-files.sh /out

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/ /
ENV PATH=/
# By number, so that Kubernetes sees that it is not root.
USER 65532:65532
ENTRYPOINT ["/visavis"]
