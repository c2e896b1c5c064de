# syntax=docker/dockerfile:1
# Baton in a container, with its project in the volume /data. A server listens on loopback only, so the
# container shares the network of its host:
#
#   docker build -t baton .
#   docker run --rm -v baton:/data baton init
#   docker run -d --network host -v baton:/data baton

FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --locked --profile dist --package baton-cli

FROM debian:bookworm-slim
# Authorities for TLS to a database elsewhere, and git for the workspaces of a runner.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --create-home --home-dir /data --shell /usr/sbin/nologin baton
COPY --from=build /src/target/dist/baton /usr/local/bin/baton
USER 10001
WORKDIR /data
VOLUME /data
# Asks the server; fails if it does not answer.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["baton", "--server", "http://127.0.0.1:4180", "status", "--json"]
ENTRYPOINT ["baton"]
CMD ["serve"]
