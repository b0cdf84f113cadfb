# The service in a container: two stages, so that nothing that builds or installs is in what runs.
#   docker build -t fairroll .
#   docker run --read-only -p 50051:50051 -p 8080:8080 -v /etc/fairroll:/etc/fairroll:ro \
#     -e FAIRROLL_ORIGIN=dice.example.com/v1 fairroll
# Keys and API keys are mounted, never built in; see docs/deployment.md.

# An exact version, but a tag can be moved: who builds for others pins the digest that they have looked at,
#   docker buildx imagetools inspect python:3.13.9-slim-trixie
#   docker build --build-arg BASE=python:3.13.9-slim-trixie@sha256:.. -t fairroll .
ARG BASE=python:3.13.9-slim-trixie

FROM ${BASE} AS build
WORKDIR /src
# One environment that builds and stays in this stage, and one that runs and never has a pip of its own.
RUN python -m venv /opt/build \
    && python -m venv --without-pip /opt/fairroll
COPY requirements/build.lock requirements/server.lock requirements/
# The locks first: they change seldom, and this layer is the slow one.
RUN /opt/build/bin/python -m pip --python /opt/fairroll/bin/python install --no-cache-dir --no-deps --require-hashes -r requirements/server.lock \
    && /opt/build/bin/python -m pip install --no-cache-dir --no-deps --require-hashes -r requirements/build.lock
COPY pyproject.toml README.md LICENSE ./
COPY rules rules
COPY service service
RUN /opt/build/bin/python -m pip wheel --no-cache-dir --no-deps --no-build-isolation --no-index --wheel-dir /dist . \
    && /opt/build/bin/python -m pip --python /opt/fairroll/bin/python install --no-cache-dir --no-deps --no-index --find-links /dist fairroll \
    && /opt/fairroll/bin/python -m compileall -q /opt/fairroll/lib

FROM ${BASE}
# The same path in both stages: an environment holds its own path.
COPY --from=build /opt/fairroll /opt/fairroll
# The base image brings a pip, and what could install one.
RUN rm -rf /usr/local/lib/python3*/site-packages/* /usr/local/lib/python3*/ensurepip /usr/local/bin/pip* /usr/local/bin/idle* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin fairroll
USER 10001:10001
WORKDIR /
# The linter takes the names of the two places of keys for secrets; they are paths.
# hadolint ignore=DL3064
ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    FAIRROLL_GRPC_ADDRESS=0.0.0.0:50051 \
    FAIRROLL_REST_ADDRESS=0.0.0.0:8080 \
    FAIRROLL_ADMIN_ADDRESS=0.0.0.0:9090 \
    FAIRROLL_KEYS=/etc/fairroll/keys \
    FAIRROLL_API_KEYS=/etc/fairroll/api-keys.json \
    FAIRROLL_LOG_FORMAT=json
EXPOSE 50051 8080 9090
HEALTHCHECK --interval=10s --timeout=2s CMD ["/opt/fairroll/bin/python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9090/readyz', timeout=2)"]
ENTRYPOINT ["/opt/fairroll/bin/fairroll", "serve"]
