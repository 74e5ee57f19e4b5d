#!/usr/bin/env bats
# One experiment of nine runs, in each of which something else happens: it is told of that run, and the experiment goes on.

load ../helpers

log="" lab=""

# during RUN PHASE COMMAND...: once that run is in that phase.
during() { wait_for_line "\[$1/9 [a-z-]*\] $2" 120 && "${@:3}"; }

approach() { container_of microhttp-virtual; }
generator() { docker ps --quiet --filter "label=com.docker.compose.service=loadgen"; }

kill_approach() { docker kill "$(approach)"; }

kill_ab() { docker exec "$(generator)" python3 -c '
import os, signal
for pid in filter(str.isdigit, os.listdir("/proc")):
    if open(f"/proc/{pid}/comm").read().strip() == "ab":
        os.kill(int(pid), signal.SIGKILL)'; }

take_prometheus_away() {
  docker stop --time 0 "$(container_of prometheus)" && during 3 "measure \([5-9][0-9]\|100\)" docker start "$(container_of prometheus)"
}

# The generator ends, and the approach is looked at, only after the approach is gone.
take_approach_away() {
  local run gone
  run=$(generator) gone=$(approach)
  during 4 collect docker pause "$run" && docker rm --force "$gone" && docker unpause "$run"
}

change_delay() {
  docker exec "$(container_of backend)" bash -c '
    exec 3<>/dev/tcp/127.0.0.1/8081 && printf "PUT /behaviour?delay=310 HTTP/1.0\r\n\r\n" >&3 && grep -q 310 <&3'
}

# The run ends before an answer comes: the generator gives up after 25 s, and the approach waits for longer.
stall_backend() {
  docker pause "$(container_of backend)" && during 6 collect docker unpause "$(container_of backend)"
}

kill_backend() { docker kill "$(container_of backend)"; }

# On the approach's CPU, until the run's end.
run_beside() {
  docker run --detach --rm --name loom-lab-beside --network none --cpuset-cpus 0 --cpus 0.5 --entrypoint timeout \
    loom-lab/loadgen 120 sh -c 'while :; do :; done' && during 7 collect docker rm --force loom-lab-beside
}

hold_approach() {
  docker pause "$(approach)" && sleep 5 && docker unpause "$(approach)"
}

nine_runs() {
  export RESPONSE_TIMEOUT_MS=60000
  start_lab CONCURRENCY=50 DURATION=20s WARMUP_CAP=1s SIZE=smoke APPROACH=microhttp-virtual REPEATS=9 &&
    during 1 "measure [2-9]" kill_approach &&
    during 2 "measure [0-9]" kill_ab &&
    during 3 "measure [0-9]" take_prometheus_away &&
    during 4 "measure [0-9]" take_approach_away &&
    during 5 "measure [0-9]" change_delay &&
    during 6 "measure [2-9][0-9]" stall_backend &&
    during 7 "measure [0-9]" run_beside &&
    during 8 "measure [3-9][0-9]" hold_approach &&
    during 9 "measure [2-9]" kill_backend &&
    end_of_lab
}

teardown_file() { docker rm --force loom-lab-beside >/dev/null 2>&1 || true; }

setup_file() {
  nine_runs >"$BATS_FILE_TMPDIR/told" 2>&1 || { cat "$BATS_FILE_TMPDIR/told" "$log" >&3; stop_lab; return 1; }
  echo "$status" >"$BATS_FILE_TMPDIR/status"
}

# judged RUN RULES...: the run of that number is invalid, and failed all these rules.
judged() {
  fails "$@"
  [ "$(run_of ".runs[$1 - 1].verdict")" = invalid ] || { run_of ".runs[$1 - 1].reasons"; return 1; }
}

@test "an approach that dies gives an invalid run that says so and keeps what it did" {
  judged 1 container_failed
  [ "$(run_of '.runs[0].requests > 0')" = true ]
}

@test "a generator that is killed" {
  judged 2 tool_failed too_many_errors
  [ "$(json .error "$(experiment_folder)/runs/2-microhttp-virtual/raw/probe.json")" = null ]
}

@test "a Prometheus that is gone for part of the run" {
  judged 3 monitoring_gone
}

@test "an approach that is gone before its state could be looked at" {
  local unknown='.rules[] | select(.rule == "container_failed" and .outcome == "could not be checked")'
  [ "$(run_of "[.runs[] | select([$unknown] != []) | .run] | join(\" \")")" = 4-microhttp-virtual ]
}

@test "a backend whose delay is changed in mid-run" {
  judged 5 backend_delay_other
}

@test "a backend that stalls gives an invalid run with the requests it did complete" {
  judged 6 tool_failed littles_law silent_end omission_possible
  [ "$(run_of '.runs[5].requests > 50')" = true ]
}

@test "a backend that dies gives an invalid run with its share of errors" {
  judged 9 too_many_errors
  [ "$(run_of '.runs[8].rules[] | select(.rule == "backend_delay_other") | .outcome')" = "could not be checked" ]
  [ "$(run_of '.runs[8].errors > 0')" = true ]
}

@test "a program beside the approach on its CPU" {
  fails 7 much_foreign_cpu || fails 7 foreign_cpu
}

@test "a closed loop that stands still for some seconds" {
  fails 8 omission_possible
}

@test "no run has the reasons of another one, and the experiment goes on to its end and fails" {
  local rule
  [ "$(run_of '.runs | length')" -eq 9 ]
  [ "$(cat "$BATS_FILE_TMPDIR/status")" -eq 2 ]
  for rule in container_failed backend_delay_other; do
    [ "$(run_of "[.runs[].rules[] | select(.rule == \"$rule\" and .outcome == \"failed\")] | length")" -eq 1 ] ||
      { echo "$rule"; run_of '.runs[].reasons'; return 1; }
  done
}
