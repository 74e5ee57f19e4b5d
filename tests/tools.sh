# The images that check the lab: linters, test tools, what the suites need. They hold no suite: its folder is mounted. Source it
# after bin/lib.sh.
# shellcheck shell=bash

build() { # NAME CONTEXT ARGUMENTS...
  local name=$1 context=$2
  shift 2
  docker build --quiet --tag "loom-lab/$name" --build-arg PYTHON_IMAGE --build-arg GO_IMAGE --build-arg RUST_IMAGE --build-arg MAVEN_IMAGE \
    --build-arg TEMURIN_25_IMAGE --build-arg TEMURIN_21_IMAGE "$@" "$LAB_ROOT/$context" >/dev/null
}

# build_all: those of every suite, all at once.
build_all() {
  local building=() one
  build tools tests/tools &
  building+=($!)
  build observability tests/observability &
  building+=($!)
  build dashboards grafana &
  building+=($!)
  build conformance tests/conformance &
  building+=($!)
  build loadgen-test loadgen --target test &
  building+=($!)
  for one in "${building[@]}"; do wait "$one"; done
}

in_tools() { docker run --rm --init --volume "$LAB_ROOT:/lab:ro" --workdir /lab --network none loom-lab/tools "$@"; }
# Its tests write thousands of small files, some of them programs.
in_loadgen_test() {
  docker run --rm --init --network none --tmpfs /tmp:exec --env HYPOTHESIS_PROFILE \
    --volume "$LAB_ROOT/loadgen:/opt/loomlab:ro" --volume "$LAB_ROOT/sizes:/lab/sizes:ro" \
    --volume "$LAB_ROOT/README.md:/lab/README.md:ro" --volume "$LAB_ROOT/docs:/lab/docs:ro" \
    --volume "$LAB_ROOT/tests/provocations:/lab/tests/provocations:ro" --volume "$LAB_ROOT/tests/fuzz:/lab/tests/fuzz:ro" \
    --volume "$LAB_ROOT/tests/faults:/lab/tests/faults:ro" --volume "$LAB_ROOT/tests/soak:/lab/tests/soak:ro" \
    --volume "$LAB_ROOT/tests/live:/lab/tests/live:ro" \
    --volume "$LAB_ROOT/benchmarks:/lab/benchmarks:ro" \
    loom-lab/loadgen-test "$@"
}
in_observability() { # OPTIONS... -- COMMAND...
  local options=()
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  docker run --rm --init --volume "$LAB_ROOT/tests/observability:/opt/observability:ro" \
    ${options[@]+"${options[@]}"} loom-lab/observability "${@:2}"
}
in_dashboards() { docker run --rm --init --interactive --network none --volume "$LAB_ROOT:/lab:ro" loom-lab/dashboards "$@"; }
in_conformance() {
  docker run --rm --init --network none --volume "$LAB_ROOT/tests/conformance:/opt/conformance:ro" loom-lab/conformance "$@"
}
promtool() {
  docker run --rm --init --interactive --volume "$LAB_ROOT/prometheus:/prometheus-config:ro" --workdir /prometheus-config \
    --network none --entrypoint promtool "$PROMETHEUS_IMAGE" "$@"
}

step() { say "== $*"; }
