# One image with both servers and the CLI; the command chooses. Build: docker build -t fairlead .
FROM golang:1.26-bookworm AS build
WORKDIR /src
ENV GOFLAGS=-trimpath CGO_ENABLED=0
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN mkdir -p /out/bin /out/keys
RUN go build -buildvcs=false -ldflags "-s -w" -o /out/bin/ ./cmd/api ./cmd/xds ./cmd/fairlead ./cmd/probe

# Nothing but our own programs and the public certificate authorities: no shell, no
# packages to keep up to date.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/bin/ /usr/local/bin/
# Volumes that are mounted here take over the owner.
COPY --from=build --chown=65532:65532 --chmod=0700 /out/keys /keys
ENV PATH=/usr/local/bin
USER 65532:65532
EXPOSE 8080 18000
CMD ["api", "serve"]
