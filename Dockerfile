# The wheel and what the lock pins for it; nothing else. `--shm-size` (or a memory-backed /dev/shm)
# should hold the shared arrays: Ray falls back to disk below that.
FROM python:3.11.13-slim-bookworm AS build
WORKDIR /src
# What the lock pins first: a change of the package alone leaves this layer as it was.
COPY requirements.lock cluster/aws-requirements.lock ./
RUN awk '/^(uv|hatchling|packaging|pathspec|pluggy|trove-classifiers)==/ {on = 1} on {print} on && !/\\$/ {on = 0}' requirements.lock > build.txt \
 && pip install --no-cache-dir --no-deps --require-hashes -r build.txt
COPY pyproject.toml README.md LICENSE ./
COPY distanon ./distanon
RUN uv build --wheel --no-build-isolation --out-dir /dist . \
 && uv venv /opt/distanon \
 && VIRTUAL_ENV=/opt/distanon uv pip install --no-cache --constraint requirements.lock /dist/*.whl \
 && VIRTUAL_ENV=/opt/distanon uv pip install --no-cache --require-hashes -r aws-requirements.lock

FROM python:3.11.13-slim-bookworm
LABEL org.opencontainers.image.title="distanon" \
      org.opencontainers.image.licenses="Apache-2.0"
# Ray's launcher starts workers from the head by ssh and rsync, in login shells, which set the PATH
# anew; what it copies to a host belongs to uid 1000 there, the token with its mode 0600 too.
RUN apt-get update \
 && apt-get install -y --no-install-recommends openssh-client rsync \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 --shell /bin/bash distanon \
 && echo 'export PATH="/opt/distanon/bin:$PATH"' > /etc/profile.d/distanon.sh
COPY --from=build /opt/distanon /opt/distanon
# The environment's bin folder comes first: a Ray head runs job entry points with the first python on its PATH.
ENV PATH="/opt/distanon/bin:$PATH" \
    PYTHONUNBUFFERED=1 \
    RAY_USAGE_STATS_ENABLED=0 \
    NUMBA_CACHE_DIR=/home/distanon/.cache/numba
USER 1000
WORKDIR /home/distanon
ENTRYPOINT ["distanon"]
CMD ["--help"]
