# What the benchmarks that make whole experiments share. Source it after bin/lib.sh and tests/tools.sh.
# shellcheck shell=bash

BENCHMARKS=$LAB_ROOT/benchmarks
SERIES=${SERIES:-1} # another name starts another series beside what was measured before

jq() { docker run --rm --interactive --network none --volume "$LAB_RESULTS:$LAB_RESULTS:ro" loom-lab/tools jq "$@"; }

# prepare_benchmark FILE: the lab must be down; sets LINES_FILE, where each try is appended.
prepare_benchmark() {
  "$LAB_ROOT/bin/prepare"
  use_base_images
  build tools tests/tools
  [ -z "$(docker ps --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME")" ] ||
    die "$HOST_CANNOT" "the lab is up and would disturb the benchmark: run make down first."
  mkdir -p "$BENCHMARKS"
  LINES_FILE=$BENCHMARKS/$1
  touch "$LINES_FILE"
}

# CONTRACT.md is in no image.
refuse_uncommitted() {
  [ -z "$(git -C "$LAB_ROOT" status --porcelain -- services ':!services/CONTRACT.md' compose.yaml)" ] ||
    die "$BAD_REQUEST" "services/ or compose.yaml has changes that are not committed, so no line could tell what was measured: commit them or take them back."
}

# lines FILTER: how many lines of this series the filter selects.
lines() { jq --slurp --arg series "$SERIES" "[.[] | select(.series == \$series) | select($1)] | length" <"$LINES_FILE"; }

# experiment VERB VARIABLES...: an experiment with its own defaults; sets CODE, WALL_S and FOLDER.
experiment() {
  local verb=$1 begun=$SECONDS
  shift
  CODE=0
  env "$@" "$LAB_ROOT/bin/run" "$verb" || CODE=$?
  WALL_S=$((SECONDS - begun))
  [ "$CODE" -ne "$INTERRUPTED" ] || exit "$INTERRUPTED"
  [ "$CODE" -le "$RUN_INVALID" ] || die "$CODE" "the experiment could not be made: see above."
  FOLDER=$LAB_RESULTS/$(readlink "$LAB_RESULTS/latest")
}

# keep_block WHAT BLOCK: a line of the sides in stdin, of APPROACH.
keep_block() {
  jq --slurp --compact-output --arg series "$SERIES" --arg what "$1" --arg approach "$APPROACH" --argjson block "$2" \
    --arg of "$(git -C "$LAB_ROOT" rev-parse --short HEAD)" --arg ended "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
    '{series: $series, what: $what, approach: $approach, block: $block, ended: $ended, of: $of, sides: .}' >>"$LINES_FILE"
}

# runs_of FOLDER: its runs as JSON, one line each: verdict and the rules that made it, figures, what each took, CPU time
# stolen from the approach.
runs_of() {
  local run memory
  for run in "$1"/runs/*; do
    memory=$run/raw/memory.json
    [ -e "$memory" ] || memory=/dev/null
    jq --compact-output --slurp '
      (.[1] | if .idle then .before.answered - .before.asked + .idle.answered - .loaded.asked else 0 end) as $live_set_s
      | .[0] | {approach, verdict, reasons, cpu_ms_per_request, throughput_rps, p50_ms: .latency_ms.p50,
        p99_ms: .latency_ms.p99, start_s, waited_s, warmup_s: .warmup.duration_s, compiling_s: .warmup.compiling_s,
        load_s: .duration_s, live_set_s: $live_set_s,
        made_by: [.verdict as $verdict | .rules[] | select((.outcome == "failed" and .level == $verdict)
          or (.outcome == "could not be checked" and $verdict == "suspect")).rule],
        steal_share: .steal_shares.approach}' "$run/run.json" "$memory"
  done
}

# ratios: puts intervals into the lines of stdin (benchmarks/statistics/ratios.py).
ratios() {
  docker run --rm --interactive --network none --volume "$LAB_ROOT/benchmarks:/benchmarks:ro" --entrypoint python3 \
    --env PYTHONPATH=/opt/loomlab/src loom-lab/loadgen /benchmarks/statistics/ratios.py
}
