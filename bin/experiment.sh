# The life of an experiment. Source it after lib.sh and host.sh, with the plan's settings in the environment.
# shellcheck shell=bash

PLAIN_PROGRESS_EVERY_S=5
STARTED_BY_US="" STOPPED_BY_US="" INTERRUPTED_BY="" RUN_NUMBER=0 RUNS_TOTAL=0
EXPERIMENT="" GENERATOR="" UNDER_TEST="" BACKGROUND="" PLAN_KEYS=""
WARMER=loom-lab-warmer-$$ BACKEND_WARMUP_CAP_S=30 SHORTEST_WARMUP_S=5 # loomlab/warmup/warmer.py

# use_lines LINES: exports each KEY=VALUE line, whatever the environment said before.
use_lines() {
  local line
  while IFS= read -r line; do
    export "${line%%=*}=${line#*=}"
    PLAN_KEYS="$PLAN_KEYS ${line%%=*}"
  done <<<"$1"
}

distinct() { printf '%s\n' "${1//,/ }" | tr ' ' '\n' | sort -u; }

# items CELLS NAMES: a line `cell/approach` for each load and each approach.
items() {
  local cell name
  for cell in $1; do
    for name in ${2//,/ }; do printf '%s/%s\n' "${cell%%:*}" "$name"; done
  done
}

# interleave ITEMS REPEATS SEED: every repeat has each item once, in an order drawn from the seed; the first keeps the
# order asked for.
interleave() {
  local repeat i j keep
  local -a names
  # shellcheck disable=SC2206  # one word an item
  names=($1)
  RANDOM=$3
  for ((repeat = 1; repeat <= $2; repeat++)); do
    if [ "$repeat" -gt 1 ]; then
      for ((i = ${#names[@]} - 1; i > 0; i--)); do
        j=$((RANDOM % (i + 1)))
        keep=${names[i]} names[i]=${names[j]} names[j]=$keep
      done
    fi
    printf '%s\n' "${names[@]}"
  done
}

take_lock() {
  local lock=$LAB_ROOT/results/.lock holder
  if ! (set -o noclobber && echo $$ >"$lock") 2>/dev/null; then
    holder=$(cat "$lock")
    if kill -0 "$holder" 2>/dev/null; then
      die "$HOST_CANNOT" "another experiment runs (process $holder): wait for it, or stop it with Ctrl-C."
    fi
    echo $$ >"$lock"
  fi
}

json_string() { printf '"%s"' "$(printf '%s' "$1" | tr -d '\000-\037' | sed 's/\\/\\\\/g; s/"/\\"/g')"; }

json_object() { # KEY VALUE ...: values are strings
  local separator=""
  printf '{'
  while [ $# -gt 0 ]; do
    printf '%s%s: %s' "$separator" "$(json_string "$1")" "$(json_string "$2")"
    separator=", "
    shift 2
  done
  printf '}'
}

write_environment() {
  local key service sizes=() images=() suspects="" restored=""
  for key in APPROACH_CPUS APPROACH_CPUSET APPROACH_MEMORY BACKEND_CPUS BACKEND_CPUSET BACKEND_MEMORY LOADGEN_CPUS \
    LOADGEN_CPUSET LOADGEN_MEMORY MONITORING_CPUSET PLATFORM_THREADS BACKEND_CONNECTIONS MAX_CONNECTIONS BACKLOG; do
    sizes+=("$key" "${!key}")
  done
  for service in $(distinct "$RUN_APPROACHES") backend; do
    images+=("$service" "$(docker image inspect --format '{{.Id}}' "loom-lab/$service:jdk$JDK")")
  done
  images+=(loadgen "$(docker image inspect --format '{{.Id}}' loom-lab/loadgen)")
  [ -z "${SUSPECT:-}" ] || suspects=$(json_string "$SUSPECT")
  [ -z "$STOPPED_BY_US" ] || restored=$(json_string "stopped for the experiment and started again after it: $STOPPED_BY_US")
  {
    docker info --format '{"engine": {{json .ServerVersion}}, "cpus": {{.NCPU}}, "memory_bytes": {{.MemTotal}},
 "kernel": {{json .KernelVersion}}, "os": {{json .OperatingSystem}}, "architecture": {{json .Architecture}},
 "cgroup": {{json .CgroupVersion}},'
    printf ' "jdk": %s, "gc": %s, "http_client": %s, "endpoint": %s,\n' "$JDK" "$(json_string "$GC")" \
      "$(json_string "$HTTP_CLIENT")" "$(json_string "$ENDPOINT")"
    printf ' "backend": %s,\n' "$(json_object delay "$DELAY" error_share "$ERROR_SHARE" seed "$SEED")"
    printf ' "size": %s, "seed": %s, "started": %s,\n' "$(json_string "$SIZE")" "$SEED" "$(json_string "$STARTED")"
    printf ' "open_files": %s, "stand_in_images": %s,\n' "$(host_open_files)" "$(on_stand_ins && echo true || echo false)"
    printf ' "images": %s,\n "sizes": %s,\n' "$(json_object "${images[@]}")" "$(json_object "${sizes[@]}")"
    printf ' "notes": [%s], "suspect": [%s]}\n' "$restored" "$suspects"
  } >"$EXPERIMENT/environment.json"
}

begin_experiment() {
  local service
  STARTED=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  EXPERIMENT=$LAB_ROOT/results/$(date -u +%Y%m%dT%H%M%SZ)-$(experiment_name)
  mkdir -p "$EXPERIMENT/runs"
  interleave "$(items "$CELLS" "$RUN_APPROACHES")" "$REPEATS" "$SEED" >"$EXPERIMENT/order.txt"
  RUNS_TOTAL=$(grep -c . "$EXPERIMENT/order.txt")
  [ -z "$SCENARIO" ] || loadgen describe-scenario "$SCENARIO" --scale "$SCALE" --duration-s "$SCENARIO_DURATION_S" \
    --out "/results/$(basename "$EXPERIMENT")/scenario.json"
  for service in ${APPROACHES//,/ }; do
    if service_runs "$service"; then STOPPED_BY_US="$STOPPED_BY_US $service"; fi
  done
  # shellcheck disable=SC2086  # one word a service
  [ -z "$STOPPED_BY_US" ] || compose stop --timeout 5 $STOPPED_BY_US >/dev/null 2>&1
  write_environment
  for service in prometheus cadvisor backend; do
    service_runs "$service" || STARTED_BY_US="$STARTED_BY_US $service"
  done
  RUN_NUMBER=1
  say "experiment $(basename "$EXPERIMENT"): $RUNS_TOTAL runs (${RUN_APPROACHES//,/, }), about $(minutes "$EXPECTED_S") min, $(minutes "$LONGEST_S") at most"
  RUN_NUMBER=0
  [ -z "$NOTE" ] || say "note: $NOTE"
  # Before the approach: of two that start at the same time, each may create the network.
  start_services prometheus cadvisor backend || exit "$HOST_CANNOT"
  ready_beside_the_approach &
  BACKGROUND=$!
}

ready_beside_the_approach() {
  start_services --wait prometheus cadvisor backend || return
  [ "$WARMUP_CAP_S" -gt $SHORTEST_WARMUP_S ] || return 0
  in_loadgen --rm -T --name "$WARMER" loadgen warm-backend --delay "$DELAY" \
    --cap-s $((WARMUP_CAP_S < BACKEND_WARMUP_CAP_S ? WARMUP_CAP_S : BACKEND_WARMUP_CAP_S)) >/dev/null 2>&1 ||
    say "the backend's warm-up did not come to its end: the first run may meet it cold"
}

experiment_name() {
  if [ -n "$SCENARIO" ]; then
    echo "$SCENARIO"
  elif [ -n "$RATE" ]; then
    echo "$TOOL-r$RATE"
  else
    echo "$TOOL-c$CONCURRENCY"
  fi
}

# minutes SECONDS_A_RUN: what the runs that are left take, the present one among them.
minutes() { echo $((((RUNS_TOTAL - RUN_NUMBER + 1) * $1 + 59) / 60)); }

start_services() { # [--wait] SERVICES...
  local log
  log=$(mktemp)
  compose up --detach --no-deps "$@" >"$log" 2>&1 || {
    [ "$1" != --wait ] || shift
    say "could not start $*: $(tail -n 1 "$log")"
    rm -f "$log"
    return 1
  }
  rm -f "$log"
}

# Renders `progress PHASE PERCENT SECONDS_LEFT TEXT` lines of loomlab, in place on a terminal, else at every change of
# phase and every few seconds; passes other lines on.
render_progress() {
  local phase percent left text line last_phase="" next=0
  while IFS= read -r line; do
    case $line in
      'progress '*)
        read -r _ phase percent left text <<<"$line"
        line="[$RUN_NUMBER/$RUNS_TOTAL $1] $phase"
        [ "$percent" = - ] || line="$line $percent %"
        [ "$left" = - ] || line="$line, $left s left"
        line="$line  $text"
        if [ -t 2 ]; then
          printf '\r\033[K%s' "$line" >&2
        elif [ "$phase" != "$last_phase" ] || [ $SECONDS -ge $next ]; then
          say "$line"
          last_phase=$phase next=$((SECONDS + PLAIN_PROGRESS_EVERY_S))
        fi
        ;;
      *) if [ -t 2 ]; then printf '\r\033[K%s\n' "$line" >&2; else say "$line"; fi ;;
    esac
  done
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

in_loadgen() { LAB_USER=$(id -u):$(id -g) compose run --no-deps "$@"; }

loadgen() { # loomlab's arguments: runs it to its end, in a container of its own
  in_loadgen --rm -T -e COLUMNS="${COLUMNS:-100}" loadgen "$@"
}

# use_cell NUMBER: threads and backend connections follow the load's own connections.
use_cell() {
  local cell number connections threads
  for cell in $CELLS; do
    IFS=: read -r number connections threads <<<"$cell"
    [ "$number" != "$1" ] || break
  done
  CELL_CONNECTIONS=$connections
  export PLATFORM_THREADS=$threads
  export BACKEND_CONNECTIONS=$((connections < MOST_BACKEND_CONNECTIONS ? connections : MOST_BACKEND_CONNECTIONS))
}

load_options() {
  if [ -n "$SCENARIO" ]; then
    printf '%s\n' --scenario "$SCENARIO" --scale "$SCALE" --cell "$1" --duration-s "$SCENARIO_DURATION_S"
  else
    printf '%s\n' --tool "$TOOL" --endpoint "$ENDPOINT" --concurrency "$CELL_CONNECTIONS" --requests "${REQUESTS:-0}" \
      --rate-rps "${RATE:-0}" --duration-s "$DURATION_S" --delay "$DELAY"
  fi
}

# measure_one CELL/APPROACH
measure_one() {
  local cell=${1%%/*} approach=${1#*/} folder run repeat word begun start_s
  local -a load
  RUN_NUMBER=$((RUN_NUMBER + 1))
  run=$RUN_NUMBER-$approach folder=$EXPERIMENT/runs/$RUN_NUMBER-$approach
  repeat=$(head -n "$RUN_NUMBER" "$EXPERIMENT/order.txt" | grep -cxF "$1")
  use_cell "$cell"
  load=()
  while IFS= read -r word; do load+=("$word"); done < <(load_options "$cell")
  say "[$RUN_NUMBER/$RUNS_TOTAL $approach] starting; about $(minutes "$EXPECTED_S") min left, $(minutes "$LONGEST_S") at most"
  UNDER_TEST=$approach begun=$SECONDS
  start_services --wait "$approach" || say "[$RUN_NUMBER/$RUNS_TOTAL $approach] did not get ready: measuring what there is"
  start_s=$((SECONDS - begun))
  wait_for_background || exit "$HOST_CANNOT"
  mkdir -p "$folder/raw"
  GENERATOR=loom-lab-generator-$$-$RUN_NUMBER
  in_loadgen --detach --use-aliases --name "$GENERATOR" loadgen measure \
    --approach "$approach" "${load[@]}" --repeat "$repeat" --jdk "$JDK" --gc "$GC" \
    --http-client "$HTTP_CLIENT" --start-s "$start_s" \
    --generator-cpus "$LOADGEN_CPUSET" --backend-cpus "$BACKEND_CPUSET" --approach-cpus "$APPROACH_CPUSET" \
    --warmup-cap-s "$WARMUP_CAP_S" --warmup-load-s "${WARMUP_LOAD_S:-0}" --out "/results/$(basename "$EXPERIMENT")/runs/$run" >/dev/null 2>&1 ||
    say "[$RUN_NUMBER/$RUNS_TOTAL $approach] the load generator did not start"
  follow "$approach" &
  wait $! || true
  [ -z "$INTERRUPTED_BY" ] || wait_for_generator
  end_run "$folder" "$run"
  [ -z "$INTERRUPTED_BY" ] || exit "$INTERRUPTED"
}

follow() { docker logs --follow "$GENERATOR" 2>&1 | render_progress "$1"; }

wait_for_generator() { docker wait "$GENERATOR" >/dev/null 2>&1 || true; }

end_run() {
  local folder=$1 run=$2
  docker inspect "$(compose ps --all --quiet "$UNDER_TEST")" >"$folder/raw/container.json" 2>/dev/null || rm -f "$folder/raw/container.json"
  docker logs "$GENERATOR" >"$folder/raw/loomlab.log" 2>&1 || true
  compose logs --no-color --no-log-prefix "$UNDER_TEST" >"$folder/raw/$UNDER_TEST.log" 2>/dev/null || true
  # shellcheck disable=SC2046  # one container
  docker rm --force "$GENERATOR" $(compose ps --all --quiet "$UNDER_TEST") >/dev/null 2>&1 || true
  GENERATOR="" UNDER_TEST=""
  # The verdict decides in `summarise`; meanwhile the next approach starts.
  { loadgen judge "/results/$(basename "$EXPERIMENT")/runs/$run" >&2 || true; } &
  BACKGROUND=$!
}

# wait_for_background: until what goes on beside an approach's start has ended; fails if it did.
wait_for_background() {
  local code=0
  [ -z "$BACKGROUND" ] || wait "$BACKGROUND" || code=$?
  BACKGROUND=""
  return $code
}

# A backend's warm-up is not worth waiting for; a judgement is.
end_background() {
  while [ -n "$BACKGROUND" ] && kill -0 "$BACKGROUND" 2>/dev/null; do
    docker rm --force "$WARMER" >/dev/null 2>&1
    sleep 0.2
  done
}

# Ctrl-C: the tool is told to stop and keeps what it measured; the loop then ends by itself.
interrupt() {
  [ -z "$INTERRUPTED_BY" ] || return 0
  INTERRUPTED_BY=signal
  say "stopping: keeping what was measured"
  if [ -n "$GENERATOR" ]; then
    docker kill --signal INT "$GENERATOR" >/dev/null 2>&1 || true
  else
    exit "$INTERRUPTED"
  fi
}

finish() {
  local code=$?
  trap '' INT TERM
  set +e
  end_background
  [ -n "$GENERATOR" ] && docker rm --force "$GENERATOR" >/dev/null 2>&1
  [ -n "$UNDER_TEST" ] && compose rm --stop --force "$UNDER_TEST" >/dev/null 2>&1
  if [ -n "$EXPERIMENT" ]; then
    if [ -n "$(ls "$EXPERIMENT/runs")" ]; then
      summarise "$code"
      code=$?
    else
      rm -rf "$EXPERIMENT"
    fi
    restore
  fi
  rm -f "$LAB_ROOT/results/.lock"
  exit "$code"
}

# summarise CODE: writes and prints the table; gives the experiment's exit code.
summarise() {
  local name code=$1
  name=$(basename "$EXPERIMENT")
  if [ "$code" -eq 0 ]; then
    loadgen summarise "/results/$name"
    code=$?
    ln -sfn "$name" "$LAB_ROOT/results/latest"
  else
    loadgen summarise --interrupted "/results/$name"
  fi
  say "results: results/$name"
  return "$code"
}

# Removes what the experiment started; what was up before it is up again, with the settings of .env.
restore() {
  local service up_again=$STOPPED_BY_US
  for service in prometheus cadvisor backend; do
    [[ " $STARTED_BY_US " == *" $service "* ]] || up_again="$up_again $service"
  done
  # shellcheck disable=SC2086  # one word a service
  [ -z "$STARTED_BY_US" ] || compose rm --stop --force $STARTED_BY_US >/dev/null 2>&1
  # shellcheck disable=SC2086  # one word a service
  [ -z "$up_again" ] || (
    unset $PLAN_KEYS
    compose up --detach --no-deps $up_again
  ) >/dev/null 2>&1
  docker network rm "${COMPOSE_PROJECT_NAME}_default" >/dev/null 2>&1
}
