# The life of an experiment: walks the plan that loomlab made. Source it after variables.sh and lock.sh.
# shellcheck shell=bash disable=SC2046,SC2086  # services, runs, settings and containers are one word each, by their patterns

RECORDINGS=loom-lab-jfr # a volume
RUNS="" LEFT="" RUNS_TOTAL=0 RUN_NUMBER=0 EXPERIMENT="" STOPPING="" LAB_BROKE="" OTHER_JDKS="" RECORDED="" APPROACHES="" SUBJECT="" COMPANIONS=""
STARTED="" STOPPED="" UP_BEFORE=""                                 # services: by the experiment, and before it
UNDER_TEST="" GENERATOR="" BACKGROUND="" WARMER=loom-lab-warmer-$$ # what goes on: a service, a container, a process
OTHERS=""                                                          # load generators beside that one, which share its load
# A line of a plan, as records/order.py and plan/planning.py have it: a folder of results may be a stranger's.
KEYS="$(awk -F '\t' '$4 == "plan" { print $1 }' "$LAB_ROOT/bin/variables.tsv" | paste -sd'|' -)|MONITORING_CPUSET|LAB_DATABASE"
KEYS="$KEYS|GENERATORS|(APPROACH|BACKEND|LOADGEN)_(CPUS|CPUSET|MEMORY)"
SETTING="(LAB_EXPERIMENT=$WORD|(EXPECTED|LONGEST|BACKEND_WARMUP)_S=[0-9]{1,7}|RECORDED=1|OTHER_JDKS=[0-9,]{1,20}|SUBJECT=$WORD|(APPROACHES|COMPANIONS)=[a-zA-Z0-9._,-]*|($KEYS)=[A-Za-z0-9.:;,=+_-]{0,200})"

# runs_in LINES: RUN SERVICE SETTINGS... of each line that tells of a run, or of those of a block that are loaded in turn.
runs_in() {
  ! grep -vxE "NOTE=.*|$SETTING|run $WORD(,$WORD)* $WORD(,$WORD)*( $SETTING)+" <<<"$1" >&2 ||
    die "$LAB_FAILED" "the plan has the lines above, which no plan has: report it, or start a new experiment."
  sed -n 's/^run //p' <<<"$1"
}

use_plan() { # LINES: exports its settings, whatever the environment says; the runs are left in RUNS, a line each
  RUNS=$(runs_in "$1") || exit
  unset LAB_DATABASE # whatever the environment has
  export $(grep -vE '^(NOTE=|run )' <<<"$1")
  NOTE=$(sed -n 's/^NOTE=\(..*\)/note: \1/p' <<<"$1") RUNS_TOTAL=$(grep -c . <<<"$RUNS") EXPERIMENT=$LAB_RESULTS/$LAB_EXPERIMENT
}

outside() { [ -n "${TARGET:-}" ]; } # whether the lab does not run what it measures, and so starts and stops nothing
behind() { outside || echo backend ${LAB_DATABASE:+database database-exporter}; }

own_experiment() { # TOKEN: no other host then resumes it or sums it up
  local file=$EXPERIMENT/.owner
  (set -C && : >"$file") 2>/dev/null || die "$HOST_CANNOT" "another host has taken $LAB_EXPERIMENT, or nothing can be written to it: start again."
  (echo "$1" >"$file") 2>/dev/null || { rm -f "$file" && die "$HOST_CANNOT" "$file could not be written: look whether its disk is full."; }
}

services_of_plan() { cut -d' ' -f2 <<<"$RUNS" | tr , '\n' | awk '!seen[$0]++'; }

begin_experiment() {
  local up runs
  rm -f "$EXPERIMENT/.again"
  up=$(outside || services_up)
  STOPPED=$(grep -xF "$(approaches)" <<<"$up" | paste -sd' ' - || true)
  UP_BEFORE=$(grep -xE 'prometheus|cadvisor|backend|database(-exporter)?' <<<"$up" | paste -sd' ' - || true)
  STARTED=$(outside || printf '%s\n' prometheus cadvisor $(behind) | grep -vxF "$up" | paste -sd' ' - || true)
  [ -z "$STOPPED" ] || stop_services $STOPPED || exit "$HOST_CANNOT"
  [ -z "${LAB_DATABASE:-}" ] || remove_services --volumes database || exit "$HOST_CANNOT"
  export LAB_WERE_UP=$STOPPED${UP_BEFORE:+ $UP_BEFORE}
  runs=$(cut -d' ' -f1 <<<"$RUNS" | tr , '\n' | grep -c . || true)
  say "experiment $LAB_EXPERIMENT: $runs runs ($(services_of_plan | paste -sd, - | sed 's/,/, /g'))," \
    "about $(((EXPECTED_S + 59) / 60)) min, $(((LONGEST_S + 59) / 60)) at most${NOTE:+$'\n'$NOTE}"
  [ -z "$RECORDED" ] || confined 1g --user 0 --volume "$RECORDINGS:/jfr" --entrypoint chmod loom-lab/loadgen 1777 /jfr
  # Before the approach: of two that start at the same time, each may create the network.
  start_beside || exit "$HOST_CANNOT"
  write_engine_facts || exit "$LAB_FAILED"
  ready_beside_the_approach &
  BACKGROUND=$!
}

# What only the host knows of the engine and the images; loomlab adds what it planned. A resumption has facts of its own.
write_engine_facts() {
  local facts service images="" notes="" file=$EXPERIMENT/engine.json
  [[ $MAX_CONNECTIONS$BACKLOG =~ ^[0-9]+$ ]] ||
    die "$BAD_REQUEST" "MAX_CONNECTIONS=$MAX_CONNECTIONS or BACKLOG=$BACKLOG is no number: use others, or those of .env."
  [ ! -e "$file" ] || file=$EXPERIMENT/engine-$(date -u +%Y%m%dT%H%M%SZ).json
  facts=$(docker info --format '"engine": {{json .ServerVersion}}, "cpus": {{.NCPU}}, "memory_bytes": {{.MemTotal}},
 "kernel": {{json .KernelVersion}}, "os": {{json .OperatingSystem}}, "architecture": {{json .Architecture}},
 "cgroup": {{json .CgroupVersion}}, "runc": {{json .RuncCommit.ID}}') || return
  for service in ${APPROACHES//,/ } $(behind) loadgen; do images+=", \"$service\": \"$(image_id "$service")\""; done
  [ -z "$STOPPED" ] || notes="\"stopped for the experiment and started again after it: $STOPPED\""
  rm -f "$file.partial"
  printf '{%s,\n "nodes": [%s],\n "inherited": {"MAX_CONNECTIONS": "%s", "BACKLOG": "%s"},\n "container_metrics": "%s",
 "stand_in_images": %s,\n "notes": [%s],\n "images": {%s}}\n' "$facts" "$(nodes_of_lab)" "$MAX_CONNECTIONS" "$BACKLOG" "$(container_metrics)" \
    "$(on_stand_ins && echo true || echo false)" "$notes" "${images#, }" >"$file.partial" ||
    { rm -f "$file.partial" && return 1; }
  sync "$file.partial" 2>/dev/null || true
  mv -f "$file.partial" "$file"
}

start_beside() { # [--wait]: monitoring, backend and database; what was up before does not get the experiment's name
  [ -z "$UP_BEFORE" ] || LAB_EXPERIMENT="" LAB_WERE_UP="" start_services "$@" $UP_BEFORE || return
  [ -z "$STARTED" ] || start_services "$@" $STARTED
}

ready_beside_the_approach() {
  start_beside --wait || return
  [ "$BACKEND_WARMUP_S" -gt 0 ] && kill -0 $$ 2>/dev/null || return 0
  in_loadgen --rm -T --name "$WARMER" loadgen warm-backend --delay "$DELAY" --cap-s "$BACKEND_WARMUP_S" >/dev/null 2>&1 ||
    say "the backend's warm-up did not finish, so the backend may be cold in the first run"
}

walk() { # every run of the plan, and again what the host spoilt of a sweep, as soon as that is known
  local run
  LEFT=$RUNS
  while [ -n "$LEFT" ]; do
    run=${LEFT%%$'\n'*} LEFT=$(sed 1d <<<"$LEFT")
    measure_one $run
    [ -n "$LEFT" ] || wait_for_background
  done
}

measure_one() { # RUN[,RUN...] SERVICE[,SERVICE...] SETTINGS...
  local runs=${1//,/ } begun=$SECONDS ready label options number said
  UNDER_TEST=$(tr , '\n' <<<"$2" | sort -u | paste -sd' ' -) RUN_NUMBER=$((RUN_NUMBER + 1))
  export "${@:3}"
  label="$RUN_NUMBER/$RUNS_TOTAL $(tr , '\n' <<<"$1" | sed 's/^[0-9]*-//' | awk '!seen[$0]++' | paste -sd, - | sed 's/,/, /')"
  say "[$label] starting; about $(((EXPECTED_S + 59) / 60)) min left, $(((LONGEST_S + 59) / 60)) at most"
  # From the same data as every other run, and before the approach: a JVM remembers for ten seconds that there was no such name.
  [ -z "${LAB_DATABASE:-}" ] || [ -n "$(containers_of database)" ] || start_beside --wait || exit "$HOST_CANNOT"
  outside || start_services --wait $UNDER_TEST ||
    { [ -n "$SUBJECT" ] && die "$HOST_CANNOT" "$UNDER_TEST did not start: start it by docker compose up, and read its log."; } ||
    say "[$label] did not become ready: measuring it anyway; its log will be in runs/${1%%,*}/raw/"
  ready=$SECONDS
  wait_for_background || exit "$HOST_CANNOT"
  (cd "$EXPERIMENT" && mkdir -p $(printf 'runs/%s/raw ' $runs)) || exit "$LAB_FAILED" # and never the experiment's own folder
  GENERATOR=loom-lab-generator-$$-$RUN_NUMBER
  # What ends one that hangs needs no shell; five minutes for what a signal makes it keep.
  options=(${OF_USER[@]+"${OF_USER[@]}"}
    --entrypoint="timeout --foreground --kill-after=300 $((LONGEST_S + 600)) entrypoint" loadgen)
  for ((number = 2; number <= ${GENERATORS:-1}; number++)); do
    OTHERS="$OTHERS $GENERATOR-$number"
    in_loadgen --detach --name "$GENERATOR-$number" "${options[@]}" generate "/results/$LAB_EXPERIMENT/runs/$runs" "$number" \
      >/dev/null 2>&1 || say "[$label] load generator $number did not start"
  done
  said=$(in_loadgen --detach --use-aliases --name "$GENERATOR" "${options[@]}" measure \
    $(printf "/results/$LAB_EXPERIMENT/runs/%s " $runs) --start-s $((ready - begun)) --waited-s $((SECONDS - ready)) \
    --label "$label" $([ ! -t 2 ] || echo --terminal) 2>&1) ||
    say "[$label] the load generator did not start ($(grep -m 1 -i error <<<"$said" || true)): this run has no figures"
  docker logs --follow "$GENERATOR" >&2 &
  wait $! || true
  # The log may end before the generator does, and a signal ends either waiting.
  for _ in 1 2; do docker wait "$GENERATOR" >/dev/null 2>&1 || true; done
  end_runs "$1" "$2"
  [ -z "$STOPPING" ] || exit "$INTERRUPTED"
}

end_runs() { # RUN[,RUN...] SERVICE[,SERVICE...]
  local number=0 code run service raw id services other
  IFS=, read -r -a services <<<"$2"
  [ -e "$EXPERIMENT/order.json" ] || die "$LAB_FAILED" "$EXPERIMENT/order.json is gone, so nothing more is measured: start again."
  for run in ${1//,/ }; do
    raw=$EXPERIMENT/runs/$run/raw service=${services[number]} number=$((number + 1))
    for _ in 1 2; do # a signal ends what asks the engine, too
      [ -e "$raw/container.json" ] || id=$(containers_of "$service") || true
      [ -e "$raw/container.json" ] || [ -z "$id" ] || keep_container "${id%%$'\n'*}" "$raw" "$service"
    done
    keep_container "$GENERATOR" "$raw" loomlab
    for other in $OTHERS; do keep_container "$other" "$raw" "loomlab${other#"$GENERATOR"}"; done
    [ -z "$RECORDED" ] || keep_pins "$raw" "$service"
    [ -z "$MODEL$SECRET_VARIABLES" ] || ask_loomlab hide "/results/$LAB_EXPERIMENT/runs/$run/raw" $SECRET_VARIABLES || rm -f "$raw"/*.log
  done
  code=$(docker inspect --format '{{.State.ExitCode}}' "$GENERATOR" 2>/dev/null || true)
  [ "$code" != "$LAB_FAILED" ] || LAB_BROKE=yes
  remove_containers "$GENERATOR" $OTHERS $(containers_of $UNDER_TEST ${COMPANIONS//,/ } ${LAB_DATABASE:+database})
  [ -z "$OTHERS" ] || rm -rf "$EXPERIMENT/runs/$1/generators"
  GENERATOR="" OTHERS="" UNDER_TEST=""
  [ "$code" != "$HOST_CANNOT" ] || exit "$HOST_CANNOT" # which the generator said why
  # Meanwhile the next approach starts. In a process group of its own, out of Ctrl-C's reach.
  set -m
  judge_runs "${1//,/ }" &
  BACKGROUND=$!
  set +m
}

keep_pins() { # RAW SERVICE: what pinned virtual threads, by the recording that a JVM leaves when it ends
  docker stop --time 30 $(containers_of "$2") >/dev/null 2>&1 || true
  confined 1g --volume "$RECORDINGS:/jfr:ro" --entrypoint jfr "$MAVEN_IMAGE" view --width 160 --truncate beginning pinned-threads \
    "/jfr/$2.jfr" >"$1/pins.txt" 2>&1 || say "no recording of $2: JVMs leave one when they are stopped by SIGTERM"
}

judge_runs() { # RUNS: those that began; fails only where the lab does; what is to be made again is left in .again
  local run code worst=0
  for run in $1; do
    [ -e "$EXPERIMENT/runs/$run/raw/request.json" ] || continue
    run=/results/$LAB_EXPERIMENT/runs/$run code=0
    loomlab -- judge "$run" >&2 || code=$?
    [ "$code" -ne "$RUN_INVALID" ] || { code=0 && loomlab -- again "$run" >>"$EXPERIMENT/.again" || code=$?; }
    [ "$code" -ne "$LAB_FAILED" ] || worst=$code
  done
  return $worst
}

# wait_for_background: until what goes on beside an approach's start has ended; fails if monitoring or backend did not start. What
# is to be made again then goes before the runs that are left.
wait_for_background() {
  local code=0 again=""
  [ -z "$BACKGROUND" ] || wait "$BACKGROUND" || code=$?
  BACKGROUND=""
  if [ -e "$EXPERIMENT/.again" ]; then # the run is invalid
    [ ! -s "$EXPERIMENT/.again" ] || again=$(runs_in "$(cat "$EXPERIMENT/.again")") || exit
    rm "$EXPERIMENT/.again"
    [ -z "$again" ] || LEFT=$again${LEFT:+$'\n'$LEFT} RUNS_TOTAL=$((RUNS_TOTAL + $(grep -c . <<<"$again")))
    start_beside --wait || true # which may have died, or be lost with a node
  fi
  [ $code -ne "$LAB_FAILED" ] || LAB_BROKE=yes code=0
  return $code
}

# Ctrl-C: the tool is told to stop and keeps what it measured; the loop then ends by itself.
interrupt() {
  [ -z "$STOPPING" ] || return 0
  STOPPING=yes
  say "stopping: keeping what was measured"
  [ -n "$GENERATOR" ] || exit "$INTERRUPTED"
  docker kill --signal INT "$GENERATOR" $OTHERS >/dev/null 2>&1 || true
}

# In a process group of its own: a second Ctrl-C would end what still cleans up.
finish() {
  local code=$?
  trap '' INT TERM HUP
  set +e -m
  wind_up "$code" &
  wait $!
  exit $?
}

wind_up() { # CODE
  local code=$1
  # A backend's warm-up is not worth waiting for; a judgement is.
  while [ -n "$BACKGROUND" ] && kill -0 "$BACKGROUND" 2>/dev/null; do
    docker rm --force "$WARMER" >/dev/null 2>&1
    sleep 0.2
  done
  remove_containers $GENERATOR $OTHERS $(containers_of $(services_of_plan) ${COMPANIONS//,/ }) $(docker ps --all --quiet \
    --filter "label=loom-lab.experiment=$LAB_EXPERIMENT" --filter label=com.docker.compose.oneoff=True)
  # What rmdir removes held no run.
  [ -z "${RESUME:-}" ] && rmdir "$EXPERIMENT/runs" 2>/dev/null && rm -rf "$EXPERIMENT" || { summarise "$code" || code=$?; }
  rm -f "$EXPERIMENT/.owner"
  restore
  release_lock
  return "$code"
}

summarise() { # CODE: writes and prints the table; gives the experiment's exit code
  local cut_off=${1#0} code=0 shown=${EXPERIMENT#"$LAB_ROOT/"}
  loomlab -- summarise ${cut_off:+--interrupted} "/results/$LAB_EXPERIMENT" || code=$?
  [ -n "$cut_off" ] || [ ! -e "$EXPERIMENT/summary.json" ] || ln -sfn "$LAB_EXPERIMENT" "$LAB_RESULTS/latest"
  [ -z "$LAB_BROKE" ] || [[ $code != ["$RUN_INVALID$UNRESOLVED"0] ]] || code=$LAB_FAILED
  say "results: $shown"
  [ ! -e "$EXPERIMENT/report.html" ] || say "report:  $shown/report.html"
  return "${cut_off:-$code}"
}

# Removes what the experiment started; what was up before it is up again, with the settings of .env.
restore() {
  export LAB_EXPERIMENT="" LAB_WERE_UP=""
  rm -f "$OVERLAY" "$SCRAPED"
  docker volume rm "$RECORDINGS" >/dev/null 2>&1
  [ -z "$STARTED" ] || remove_services ${LAB_DATABASE:+--volumes} $STARTED
  [ -z "$STOPPED$UP_BEFORE" ] ||
    (unset $(compgen -e | grep -xE "$KEYS") && start_services $STOPPED $UP_BEFORE) ||
    say "the services that were up before could not be started again: run make up"
  remove_networks
}
