# The life of an experiment: walks the plan that loomlab made. Source it after lib.sh, host.sh and lock.sh.
# shellcheck shell=bash

STARTED_BY_US="" STOPPED_BY_US="" UP_BEFORE="" INTERRUPTED_BY="" RUN_NUMBER=0 RUNS_TOTAL=0
EXPERIMENT="" LEFT="" LAB_BROKE="" GENERATOR="" UNDER_TEST="" BACKGROUND="" PLAN_KEYS=""
WARMER=loom-lab-warmer-$$

# use_settings WORDS...: exports each KEY=VALUE, whatever the environment said before. Which keys and values there may be, loomlab
# decides: it prints an order only if that has the types of records/order.py.
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
  EXPERIMENT=$LAB_RESULTS/$LAB_EXPERIMENT
  RUNS=$(sed -n 's/^run //p' <<<"$1")
  RUNS_TOTAL=$(grep -c . <<<"$RUNS")
}

approaches_of_plan() { cut -d' ' -f2 <<<"$RUNS" | awk '!seen[$0]++'; }

# What only the host knows of the engine and the images; loomlab adds what it planned. A resumption has facts of its own.
write_engine_facts() {
  local service separator="" file=engine.json
  [ ! -e "$EXPERIMENT/engine.json" ] || file=engine-$(date -u +%Y%m%dT%H%M%SZ).json
  {
    docker info --format '{"engine": {{json .ServerVersion}}, "cpus": {{.NCPU}}, "memory_bytes": {{.MemTotal}},
 "kernel": {{json .KernelVersion}}, "os": {{json .OperatingSystem}}, "architecture": {{json .Architecture}},
 "cgroup": {{json .CgroupVersion}},'
    printf ' "inherited": {"MAX_CONNECTIONS": "%s", "BACKLOG": "%s"},\n' "$MAX_CONNECTIONS" "$BACKLOG"
    printf ' "container_metrics": "%s",\n' "$(container_metrics)"
    printf ' "stand_in_images": %s,\n "notes": [%s],\n "images": {' "$(on_stand_ins && echo true || echo false)" \
      "${STOPPED_BY_US:+"\"stopped for the experiment and started again after it:$STOPPED_BY_US\""}"
    for service in $(approaches_of_plan) backend loadgen; do
      printf '%s"%s": "%s"' "$separator" "$service" "$(image_id "$service")"
      separator=", "
    done
    printf '}}\n'
  } >"$EXPERIMENT/.engine"
  mv "$EXPERIMENT/.engine" "$EXPERIMENT/$file"
}

# begin_experiment: in the folder that the plan made.
begin_experiment() {
  local service
  rm -f "$EXPERIMENT/.again" "$EXPERIMENT/.engine"
  for service in $(approaches); do
    if service_runs "$service"; then STOPPED_BY_US="$STOPPED_BY_US $service"; fi
  done
  # shellcheck disable=SC2086  # one word a service
  [ -z "$STOPPED_BY_US" ] || compose stop --timeout 5 $STOPPED_BY_US >/dev/null 2>&1 || exit "$HOST_CANNOT"
  write_engine_facts || exit "$LAB_FAILED"
  for service in prometheus cadvisor backend; do
    if service_runs "$service"; then UP_BEFORE="$UP_BEFORE $service"; else STARTED_BY_US="$STARTED_BY_US $service"; fi
  done
  export LAB_WERE_UP=$STOPPED_BY_US$UP_BEFORE
  say "experiment $LAB_EXPERIMENT: $RUNS_TOTAL runs ($(approaches_of_plan | paste -sd, - | sed 's/,/, /g')), about $(minutes "$EXPECTED_S") min, $(minutes "$LONGEST_S") at most"
  [ -z "$NOTE" ] || say "note: $NOTE"
  # Before the approach: of two that start at the same time, each may create the network.
  start_beside || exit "$HOST_CANNOT"
  ready_beside_the_approach &
  BACKGROUND=$!
}

# start_beside [--wait]: monitoring and backend; what was up before does not get the experiment's name.
start_beside() {
  # shellcheck disable=SC2086  # one word a service
  [ -z "$UP_BEFORE" ] || LAB_EXPERIMENT="" LAB_WERE_UP="" start_services "$@" $UP_BEFORE || return
  # shellcheck disable=SC2086  # one word a service
  [ -z "$STARTED_BY_US" ] || start_services "$@" $STARTED_BY_US
}

ready_beside_the_approach() {
  start_beside --wait || return
  [ "$BACKEND_WARMUP_S" -gt 0 ] && kill -0 $$ 2>/dev/null || return 0
  in_loadgen --rm -T --name "$WARMER" loadgen warm-backend --delay "$DELAY" \
    --cap-s "$BACKEND_WARMUP_S" >/dev/null 2>&1 ||
    say "the backend's warm-up did not finish, so the backend may be cold in the first run"
}

minutes() { echo $((($1 + 59) / 60)); } # SECONDS

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

in_loadgen() { LAB_USER=$(lab_user) compose run --no-deps "$@"; }

# walk: every run of the plan, and again what the host spoilt of a sweep, as soon as that is known.
walk() {
  local line
  LEFT=$RUNS
  while [ -n "$LEFT" ]; do
    line=${LEFT%%$'\n'*} LEFT=${LEFT#"${LEFT%%$'\n'*}"} LEFT=${LEFT#$'\n'}
    # shellcheck disable=SC2086  # words of a plan
    measure_one $line
    [ -n "$LEFT" ] || wait_for_background
  done
}

# Puts what is to be made again before the runs that are left.
take_again() {
  local again
  [ -e "$EXPERIMENT/.again" ] || return 0
  again=$(sed 's/^run //' "$EXPERIMENT/.again")
  rm "$EXPERIMENT/.again"
  [ -n "$again" ] || return 0
  RUNS_TOTAL=$((RUNS_TOTAL + $(grep -c . <<<"$again")))
  LEFT=$again${LEFT:+$'\n'$LEFT}
  start_beside || true # monitoring may have died
}

# measure_one RUN APPROACH SETTINGS...: a line of the plan.
measure_one() {
  local run=$1 approach=$2 name=${1#*-} begun ready terminal=
  shift 2
  RUN_NUMBER=$((RUN_NUMBER + 1))
  use_settings "$@"
  say "[$RUN_NUMBER/$RUNS_TOTAL $name] starting; about $(minutes "$EXPECTED_S") min left, $(minutes "$LONGEST_S") at most"
  UNDER_TEST=$approach begun=$SECONDS
  start_services --wait "$approach" || say "[$RUN_NUMBER/$RUNS_TOTAL $name] did not become ready: measuring it anyway; its log will be in runs/$run/raw/"
  ready=$SECONDS
  wait_for_background || exit "$HOST_CANNOT"
  mkdir -p "$EXPERIMENT/runs/$run/raw"
  GENERATOR=loom-lab-generator-$$-$RUN_NUMBER
  [ ! -t 2 ] || terminal=yes
  in_loadgen --detach --use-aliases --name "$GENERATOR" loadgen measure "/results/$LAB_EXPERIMENT/runs/$run" \
    --start-s $((ready - begun)) --waited-s $((SECONDS - ready)) --label "$RUN_NUMBER/$RUNS_TOTAL $name" ${terminal:+--terminal} >/dev/null 2>&1 ||
    say "[$RUN_NUMBER/$RUNS_TOTAL $name] the load generator did not start: this run has no figures"
  docker logs --follow "$GENERATOR" >&2 &
  wait $! || true
  # The log may end before the generator does, and a signal ends the waiting.
  wait_for_generator
  [ -z "$INTERRUPTED_BY" ] || wait_for_generator
  end_run "$run"
  [ -z "$INTERRUPTED_BY" ] || exit "$INTERRUPTED"
}

wait_for_generator() { docker wait "$GENERATOR" >/dev/null 2>&1 || true; }

end_run() {
  local run=$1 folder=$EXPERIMENT/runs/$1
  docker inspect "$(compose ps --all --quiet "$UNDER_TEST")" >"$folder/.container" 2>/dev/null &&
    mv "$folder/.container" "$folder/raw/container.json" || rm -f "$folder/.container"
  docker logs "$GENERATOR" >"$folder/raw/loomlab.log" 2>&1 || true
  [ "$(docker inspect --format '{{.State.ExitCode}}' "$GENERATOR" 2>/dev/null)" != "$LAB_FAILED" ] || LAB_BROKE=yes
  compose logs --no-color --no-log-prefix "$UNDER_TEST" >"$folder/raw/$UNDER_TEST.log" 2>/dev/null || true
  # shellcheck disable=SC2046  # one container
  docker rm --force "$GENERATOR" $(compose ps --all --quiet "$UNDER_TEST") >/dev/null 2>&1 || true
  GENERATOR="" UNDER_TEST=""
  # The verdict decides in `summarise`; meanwhile the next approach starts. In a process group of its own, out of Ctrl-C's reach.
  set -m
  judge_run "/results/$LAB_EXPERIMENT/runs/$run" &
  BACKGROUND=$!
  set +m
}

# judge_run FOLDER: fails only where the lab does; what is to be made again of it is left in .again.
judge_run() {
  local code=0
  loomlab -- judge "$1" >&2 || code=$?
  [ "$code" -ne "$RUN_INVALID" ] || { code=0 && loomlab -- again "$1" >>"$EXPERIMENT/.again" || code=$?; }
  [ "$code" -ne "$LAB_FAILED" ] || return "$code"
}

# wait_for_background: until what goes on beside an approach's start has ended; fails if monitoring or backend did not start.
wait_for_background() {
  local code=0
  [ -z "$BACKGROUND" ] || wait "$BACKGROUND" || code=$?
  BACKGROUND=""
  take_again
  [ $code -ne "$LAB_FAILED" ] || { LAB_BROKE=yes && return; }
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

# In a process group of its own: a second Ctrl-C would end what still cleans up.
finish() {
  local code=$?
  trap '' INT TERM HUP
  set +e
  set -m
  wind_up "$code" &
  wait $!
  exit $?
}

wind_up() { # CODE
  local code=$1
  end_background
  # shellcheck disable=SC2046,SC2086  # one word a container
  docker rm --force $GENERATOR $(containers_of_runs) >/dev/null 2>&1
  # What rmdir removes held no run.
  if [ -z "${RESUME:-}" ] && rmdir "$EXPERIMENT/runs" 2>/dev/null; then
    rm -rf "$EXPERIMENT"
  else
    summarise "$code"
    code=$?
  fi
  restore
  release_lock
  return "$code"
}

# Of the approaches and of what `compose run` started.
containers_of_runs() {
  # shellcheck disable=SC2046  # one word a service
  compose ps --all --quiet $(approaches_of_plan)
  docker ps --all --quiet --filter "label=loom-lab.experiment=$LAB_EXPERIMENT" --filter label=com.docker.compose.oneoff=True
}

# summarise CODE: writes and prints the table; gives the experiment's exit code.
summarise() {
  local name code=$1 shown=${EXPERIMENT#"$LAB_ROOT/"}
  name=$(basename "$EXPERIMENT")
  if [ "$code" -eq 0 ]; then
    loomlab -- summarise "/results/$name"
    code=$?
    [ ! -e "$EXPERIMENT/summary.json" ] || ln -sfn "$name" "$LAB_RESULTS/latest"
    [ -z "$LAB_BROKE" ] || [ "$code" -gt "$RUN_INVALID" ] || code=$LAB_FAILED
  else
    loomlab -- summarise --interrupted "/results/$name"
  fi
  say "results: $shown"
  [ ! -e "$EXPERIMENT/report.html" ] || say "report:  $shown/report.html"
  return "$code"
}

# Removes what the experiment started; what was up before it is up again, with the settings of .env.
restore() {
  local up_again=$STOPPED_BY_US$UP_BEFORE
  export LAB_EXPERIMENT="" LAB_WERE_UP=""
  # shellcheck disable=SC2086  # one word a service
  [ -z "$STARTED_BY_US" ] || compose rm --stop --force $STARTED_BY_US >/dev/null 2>&1
  # shellcheck disable=SC2086  # one word a service
  [ -z "$up_again" ] || (
    unset $PLAN_KEYS
    compose up --detach --no-deps $up_again
  ) >/dev/null 2>&1 || say "the services that were up before could not be started again: run make up"
  docker network rm "${COMPOSE_PROJECT_NAME}_default" >/dev/null 2>&1
}
