# The life of an experiment: walks the plan that loomlab made. Source it after lib.sh, host.sh and lock.sh.
# shellcheck shell=bash

STARTED_BY_US="" STOPPED_BY_US="" INTERRUPTED_BY="" RUN_NUMBER=0 RUNS_TOTAL=0
EXPERIMENT="" GENERATOR="" UNDER_TEST="" BACKGROUND="" PLAN_KEYS=""
WARMER=loom-lab-warmer-$$ BACKEND_WARMUP_CAP_S=30 SHORTEST_WARMUP_S=5 # loomlab/run/warmup/warmer.py

# use_settings WORDS...: exports each KEY=VALUE, whatever the environment said before.
use_settings() {
  local setting
  for setting in "$@"; do
    export "${setting?}"
    PLAN_KEYS="$PLAN_KEYS ${setting%%=*}"
  done
}

# use_plan LINES: exports its settings for all runs; the runs themselves are left in RUNS, a line each.
use_plan() {
  local line
  while IFS= read -r line; do
    case $line in
      run\ *) ;;
      *) use_settings "$line" ;;
    esac
  done <<<"$1"
  EXPERIMENT=$LAB_ROOT/results/$LAB_EXPERIMENT
  RUNS=$(sed -n 's/^run //p' <<<"$1")
  RUNS_TOTAL=$(grep -c . <<<"$RUNS")
}

approaches_of_plan() { cut -d' ' -f2 <<<"$RUNS" | awk '!seen[$0]++'; }

# finish_killed: judges and sums up what experiments left that were killed, and says so.
finish_killed() {
  local folder
  for folder in "$LAB_ROOT"/results/*/; do
    if [ -e "$folder/order.json" ] && [ ! -e "$folder/summary.json" ]; then
      loomlab -- finish "/results/$(basename "$folder")" >&2 || true
    fi
  done
}

# What only the host knows of the engine and the images; loomlab adds what it planned.
write_engine_facts() {
  local service separator=""
  {
    docker info --format '{"engine": {{json .ServerVersion}}, "cpus": {{.NCPU}}, "memory_bytes": {{.MemTotal}},
 "kernel": {{json .KernelVersion}}, "os": {{json .OperatingSystem}}, "architecture": {{json .Architecture}},
 "cgroup": {{json .CgroupVersion}},'
    printf ' "stand_in_images": %s,\n "notes": [%s],\n "images": {' "$(on_stand_ins && echo true || echo false)" \
      "${STOPPED_BY_US:+"\"stopped for the experiment and started again after it:$STOPPED_BY_US\""}"
    for service in $(approaches_of_plan) backend loadgen; do
      printf '%s"%s": "%s"' "$separator" "$service" "$(image_id "$service")"
      separator=", "
    done
    printf '}}\n'
  } >"$EXPERIMENT/engine.json"
}

# begin_experiment: in the folder that the plan made.
begin_experiment() {
  local service
  for service in $(approaches); do
    if service_runs "$service"; then STOPPED_BY_US="$STOPPED_BY_US $service"; fi
  done
  # shellcheck disable=SC2086  # one word a service
  [ -z "$STOPPED_BY_US" ] || compose stop --timeout 5 $STOPPED_BY_US >/dev/null 2>&1
  write_engine_facts
  LAB_WERE_UP=$STOPPED_BY_US
  for service in prometheus cadvisor backend; do
    if service_runs "$service"; then LAB_WERE_UP="$LAB_WERE_UP $service"; else STARTED_BY_US="$STARTED_BY_US $service"; fi
  done
  export LAB_WERE_UP
  RUN_NUMBER=1
  say "experiment $LAB_EXPERIMENT: $RUNS_TOTAL runs ($(approaches_of_plan | paste -sd, - | sed 's/,/, /g')), about $(minutes "$EXPECTED_S") min, $(minutes "$LONGEST_S") at most"
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

in_loadgen() { LAB_USER=$(id -u):$(id -g) compose run --no-deps "$@"; }

# measure_one RUN APPROACH SETTINGS...: a line of the plan.
measure_one() {
  local run=$1 approach=$2 begun
  shift 2
  RUN_NUMBER=$((RUN_NUMBER + 1))
  use_settings "$@"
  say "[$RUN_NUMBER/$RUNS_TOTAL $approach] starting; about $(minutes "$EXPECTED_S") min left, $(minutes "$LONGEST_S") at most"
  UNDER_TEST=$approach begun=$SECONDS
  start_services --wait "$approach" || say "[$RUN_NUMBER/$RUNS_TOTAL $approach] did not get ready: measuring what there is"
  wait_for_background || exit "$HOST_CANNOT"
  mkdir -p "$EXPERIMENT/runs/$run/raw"
  GENERATOR=loom-lab-generator-$$-$RUN_NUMBER
  in_loadgen --detach --use-aliases --name "$GENERATOR" loadgen measure "/results/$LAB_EXPERIMENT/runs/$run" \
    --start-s $((SECONDS - begun)) --label "$RUN_NUMBER/$RUNS_TOTAL $approach" $([ ! -t 2 ] || echo --terminal) >/dev/null 2>&1 ||
    say "[$RUN_NUMBER/$RUNS_TOTAL $approach] the load generator did not start"
  docker logs --follow "$GENERATOR" >&2 &
  wait $! || true
  [ -z "$INTERRUPTED_BY" ] || wait_for_generator
  end_run "$run"
  [ -z "$INTERRUPTED_BY" ] || exit "$INTERRUPTED"
}

wait_for_generator() { docker wait "$GENERATOR" >/dev/null 2>&1 || true; }

end_run() {
  local run=$1 folder=$EXPERIMENT/runs/$1
  docker inspect "$(compose ps --all --quiet "$UNDER_TEST")" >"$folder/raw/container.json" 2>/dev/null || rm -f "$folder/raw/container.json"
  docker logs "$GENERATOR" >"$folder/raw/loomlab.log" 2>&1 || true
  compose logs --no-color --no-log-prefix "$UNDER_TEST" >"$folder/raw/$UNDER_TEST.log" 2>/dev/null || true
  # shellcheck disable=SC2046  # one container
  docker rm --force "$GENERATOR" $(compose ps --all --quiet "$UNDER_TEST") >/dev/null 2>&1 || true
  GENERATOR="" UNDER_TEST=""
  # The verdict decides in `summarise`; meanwhile the next approach starts.
  { loomlab -- judge "/results/$LAB_EXPERIMENT/runs/$run" >&2 || true; } &
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
  release_lock
  exit "$code"
}

# summarise CODE: writes and prints the table; gives the experiment's exit code.
summarise() {
  local name code=$1
  name=$(basename "$EXPERIMENT")
  if [ "$code" -eq 0 ]; then
    loomlab -- summarise "/results/$name"
    code=$?
    ln -sfn "$name" "$LAB_ROOT/results/latest"
  else
    loomlab -- summarise --interrupted "/results/$name"
  fi
  say "results: results/$name"
  return "$code"
}

# Removes what the experiment started; what was up before it is up again, with the settings of .env.
restore() {
  local service up_again=$STOPPED_BY_US
  export LAB_EXPERIMENT="" LAB_WERE_UP=""
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
