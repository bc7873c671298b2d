# One image with both servers and the CLI; the command chooses. Build: docker build -t fairlead .
# For other machines than this one: podman build --platform linux/arm64, or deploy/image for several. Go compiles for them here, and nothing is emulated.
# Pin the builder with --build-arg GO_IMAGE=NAME@sha256:...; `make compose-env` asks for the digest.
ARG GO_IMAGE=docker.io/library/golang:1.26-bookworm
FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS build
WORKDIR /src
ENV GOFLAGS=-trimpath CGO_ENABLED=0
COPY go.mod go.sum ./
COPY clients/go/go.mod clients/go/go.sum clients/go/
RUN go mod download
# What writes the image's SPDX document runs here, whatever machine the image is for. Go fetches the two modules that it needs.
COPY tools/release tools/release
RUN cd tools/release && go build -buildvcs=false -o /out/imagebom ./imagebom
COPY . .
RUN mkdir -p /out/bin
# What the programs say they are: --build-arg VERSION=1.2.3
ARG VERSION=
ARG TARGETOS=
ARG TARGETARCH=
RUN GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -buildvcs=false -ldflags "-s -w -X fairlead/cmd/internal/run.release=${VERSION}" -o /out/bin/ ./cmd/api ./cmd/xds ./cmd/fairlead ./cmd/probe
# When the document was written: of a commit in deploy/image, so that the image is the same each time, else now.
ARG SOURCE_DATE_EPOCH=
RUN mkdir -p /out/doc && /out/imagebom -version "${VERSION}" -bin /out/bin -out /out/doc/fairlead.spdx.json

# Nothing but our own programs, what they are made of (SPDX), and the public certificate
# authorities: no shell, no packages to keep up to date.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/bin/ /usr/local/bin/
COPY --from=build /out/doc/ /usr/share/doc/fairlead/
ENV PATH=/usr/local/bin
USER 65532:65532
EXPOSE 8443 18000
CMD ["api", "serve"]
