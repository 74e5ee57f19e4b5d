#!/usr/bin/env bats
# Rules of the verdict, provoked for real; those on what happens in mid-run are in midrun.bats.

load ../helpers

log="" lab=""
# microhttp-virtual is ready soonest.
RUN="CONCURRENCY=50 DURATION=10s WARMUP_CAP=1s APPROACH=microhttp-virtual"

teardown() {
  stop_lab
  [ -e "$BATS_TEST_TMPDIR/why" ] || BATS_TEST_RETRIES=0 # only a CPU that could not be filled is tried again
  [ -n "${BATS_TEST_COMPLETED:-}" ] || [ "$BATS_TEST_RETRIES" -eq 0 ] || tell_try >&3
  rm -f "$LAB_ROOT/sizes/provoked.env"
}

# A CPU that a hypervisor takes away for a while cannot be filled.
fills_a_cpu() { BATS_TEST_RETRIES=4; }

# bats forgets what a failed try printed when there is another.
tell_try() {
  echo "# try $BATS_TEST_TRY_NUMBER failed: $BATS_TEST_DESCRIPTION"
  sed 's/^/#   /' "$BATS_TEST_TMPDIR/why" 2>/dev/null || true
}

# provoke COMMAND...: once the run has begun.
provoke() {
  wait_for_line "measure [0-9]" 120
  "$@"
}

# squeeze CPUS COMMAND...: gives the container that the command names a quota of so many CPUs.
squeeze() {
  local cpus=$1
  shift
  docker update --cpus "$cpus" "$("$@")"
}

generator() { docker ps --quiet --filter "label=com.docker.compose.service=loadgen"; }

# reasoned SENTENCES...: the run has ended and its reasons have all of them.
reasoned() {
  local sentence reasons
  end_of_lab
  reasons=$(run_of '.runs[0].reasons | join(" ")')
  for sentence in "$@"; do
    [[ $reasons == *"$sentence"* ]] || { echo "'$sentence' is not in: $reasons" | tee "$BATS_TEST_TMPDIR/why"; cat "$log"; return 1; }
  done
}

# judged VERDICT SENTENCES...: the same, and that is its verdict.
judged() {
  local verdict=$1
  shift
  reasoned "$@"
  [ "$(run_of '.runs[0].verdict')" = "$verdict" ] || { cat "$log"; return 1; }
}

# outcome_of RULE: what it found in the first run.
outcome_of() { run_of ".runs[0].rules[] | select(.rule == \"$1\") | .outcome"; }

# hold SECONDS SERVICE: its processes stand still for so long.
hold() {
  docker pause "$(container_of "$2")"
  sleep "$1"
  docker unpause "$(container_of "$2")"
}

# size_with KEY=VALUE...: a size of that name on the smallest lab.
size_with() {
  cp "$LAB_ROOT/sizes/smoke.env" "$LAB_ROOT/sizes/provoked.env"
  printf '%s\n' "$@" >>"$LAB_ROOT/sizes/provoked.env"
}

@test "a generator squeezed to a tenth of a CPU, and a run too short and too cold" {
  # shellcheck disable=SC2086  # one word a variable
  start_lab run-k6 $RUN CONCURRENCY=300
  provoke squeeze 0.1 generator
  judged invalid "The load generator limited the run: its CPU quota was" \
    "The load generator limited the run: it was throttled in" "waves of requests only" "There was no warm-up"
}

@test "a backend squeezed to a twentieth of a CPU" {
  # shellcheck disable=SC2086
  start_lab $RUN CONCURRENCY=300
  provoke squeeze 0.05 container_of backend
  judged invalid "The backend limited the run: its CPU quota was" "The backend limited the run: it was throttled in" \
    "ms late on average" "ms late at p99"
}

@test "an approach with 96 MB is killed for memory" {
  size_with APPROACH_MEMORY=96m
  # shellcheck disable=SC2086
  start_lab $RUN SIZE=provoked CONCURRENCY=300 APPROACH=tomcat-virtual
  judged invalid "killed for memory"
  [ "$(outcome_of gc_heavy)" = "could not be checked" ]
}

@test "an approach that is started again in mid-run" {
  # shellcheck disable=SC2086
  start_lab run-vegeta $RUN DURATION=20s RATE=50
  restart() { docker restart --timeout 0 "$(container_of microhttp-virtual)"; }
  provoke restart
  judged invalid "The container under test was started" "The process under test was started again" "of the requests failed"
}

@test "a k6 on one CPU that costs more than what it drives" {
  fills_a_cpu
  size_with MONITORING_CPUSET=0
  # shellcheck disable=SC2086
  start_lab run-k6 $RUN SIZE=provoked DURATION=15s APPROACH=microhttp-async DELAY=0 ENDPOINT=/epoch-millis REQUESTS=10000000
  judged invalid "The load generator limited the run: all CPUs of its set"
}

@test "an approach under a CPU quota, beside which a process of its container is killed for memory" {
  size_with APPROACH_CPUS=0.4 APPROACH_MEMORY=384m
  # shellcheck disable=SC2086
  start_lab $RUN SIZE=provoked DURATION=18s # a quota slows the devourer, too
  # tail keeps the last line of an endless one: all of it
  devour() { docker exec "$(container_of microhttp-virtual)" sh -c 'tail /dev/zero' || true; }
  provoke devour
  judged invalid "The kernel killed processes of the container for memory" "A process of the container under test was killed" \
    "was throttled in"
}

@test "a backend flooded by others" {
  fills_a_cpu
  size_with MONITORING_CPUSET=0
  # shellcheck disable=SC2086
  start_lab $RUN SIZE=provoked CONCURRENCY=10 DURATION=28s
  # Pipelined, so that it takes the sender next to nothing.
  flood() {
    docker run --rm --network loom-lab_default --cpuset-cpus 0 --entrypoint python3 loom-lab/loadgen -c '
import socket, time
with socket.create_connection(("backend", 8080)) as backend:
    end = time.monotonic() + 20 # the first seconds go to compiling
    while time.monotonic() < end:
        backend.sendall(b"GET /nothing HTTP/1.1\r\nHost: backend\r\n\r\n" * 100)
        backend.recv(1 << 20)'
  }
  provoke flood
  judged invalid "The load generator limited the run: all CPUs of its set" \
    "The backend limited the run: all CPUs of its set" "The backend limited the run: its busiest event loop"
}

@test "rates that an approach cannot reach, all or some" {
  start_lab scenario NAME=rate-ladder SCALE=0.5 DURATION=40s WARMUP_CAP=1s SIZE=smoke APPROACH=microhttp-virtual,webflux-netty
  wait_for_line "1/2.*measure [0-9]" 120
  docker kill "$(container_of "$(sed -nE 's/.*1\/2 ([a-z-]+).*measure.*/\1/p' "$log" | head -n 1)")"
  judged invalid "Not even the lowest offered rate"
  [[ $(run_of '.runs[1].reasons | join(" ")') == *"did not hold"* ]] || { run_of '.runs[1].reasons'; return 1; }
}

@test "a heap and a backend pool that are too small" {
  size_with APPROACH_MEMORY=512m
  # shellcheck disable=SC2086
  start_lab $RUN SIZE=provoked DURATION=15s CONCURRENCY=1800 BACKEND_CONNECTIONS=1200 APPROACH=tomcat-virtual
  reasoned "Garbage collection took" "pool of 1200 backend connections is smaller"
}

@test "a rate that no 20 connections can carry, under k6" {
  # shellcheck disable=SC2086
  start_lab run-k6 $RUN CONCURRENCY=20 RATE=200
  judged invalid "The offered rate was missed: k6 started" "k6 dropped"
}

@test "a rate that no 20 connections can carry, under vegeta" {
  # shellcheck disable=SC2086
  start_lab run-vegeta $RUN CONCURRENCY=20 RATE=200
  judged invalid "The offered rate was missed: vegeta started"
}

@test "a listen queue of 1, and a pool with fewer threads than connections" {
  export BACKLOG=1
  # shellcheck disable=SC2086
  start_lab $RUN APPROACH=tomcat-platform CONCURRENCY=1000 PLATFORM_THREADS=900
  reasoned "connection attempts had to be repeated" "pool of 900 platform threads is smaller"
}

@test "a backend that fails one answer in five, and connections to it that end after each answer" {
  export KEEP_ALIVE_MS=1
  # shellcheck disable=SC2086
  start_lab $RUN APPROACH=webflux-netty DURATION=15s ERROR_SHARE=0.2
  judged invalid "of the requests failed or were not answered 2xx" "The backend answered" \
    "Backend connections were not kept" "Connections were reopened" "answers kept their connection open"
}

@test "a rate that is kept on average by requests that start seconds late" {
  # shellcheck disable=SC2086
  start_lab run-vegeta $RUN RATE=100 CONCURRENCY=200 DURATION=30s
  wait_for_line "measure [2-4][0-9] %" 120 # amid what counts
  hold 4 backend
  judged invalid "vegeta started requests"
  [ "$(outcome_of rate_missed)" = passed ]
  [ "$(run_of '.runs[0] | .latency_ms.p90 > .latency_from_start_ms.p90 + 500')" = true ]
}

@test "a run without a record of what its CPUs did" {
  local run
  run=$(find "$(newest)/runs" -mindepth 1 -maxdepth 1 | head -n 1)
  rm "$run/raw/host.json"
  docker run --rm --network none --user "$(id -u):$(id -g)" --volume "$LAB_ROOT/results:/results" loom-lab/loadgen \
    judge "/results/${run#"$LAB_ROOT/results/"}" || [ $? -eq 1 ]
  for rule in generator_cpus generator_thread foreign_cpu stolen clock_stepped; do
    [ "$(json ".rules[] | select(.rule == \"$rule\") | .outcome" "$run/run.json")" = "could not be checked" ] || { echo "$rule"; return 1; }
  done
}
