#!/usr/bin/env bats
# More rules of the verdict, provoked for real: `make test-all PART=provocations`.

load ../helpers
load ../provoke

log="" lab=""

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

@test "a backend squeezed to a twentieth of a CPU" {
  # shellcheck disable=SC2086
  start_lab $RUN CONCURRENCY=300
  provoke squeeze 0.05 container_of backend
  judged invalid "The backend limited the run: its CPU quota was" "The backend limited the run: it was throttled in" \
    "ms late on average" "ms late at p99"
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
  judged invalid "Out of memory: the kernel killed processes of the container" "A process of the container under test was killed" \
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
  size_with APPROACH_MEMORY=640m
  # shellcheck disable=SC2086
  start_lab $RUN SIZE=provoked DURATION=15s CONCURRENCY=1800 BACKEND_CONNECTIONS=1200 APPROACH=tomcat-virtual
  reasoned "Garbage collection took" "pool of 1200 backend connections is smaller"
}

@test "a rate that no 20 connections can carry, under vegeta" {
  # shellcheck disable=SC2086
  start_lab run-vegeta $RUN CONCURRENCY=20 RATE=200
  judged invalid "The offered rate was missed: vegeta started"
}

@test "a rate that no 20 connections can carry, under k6" {
  # shellcheck disable=SC2086
  start_lab run-k6 $RUN CONCURRENCY=20 RATE=200
  judged invalid "The offered rate was missed: k6 started" "k6 dropped"
}

@test "an approach with 96 MB is killed for memory" {
  size_with APPROACH_MEMORY=96m
  # shellcheck disable=SC2086
  start_lab $RUN SIZE=provoked CONCURRENCY=300 APPROACH=tomcat-virtual
  judged invalid "killed because memory ran out"
  [ "$(outcome_of gc_heavy)" = "could not be checked" ]
}

@test "a listen queue of 1, and a pool with fewer threads than connections" {
  export BACKLOG=1
  # shellcheck disable=SC2086
  start_lab $RUN APPROACH=tomcat-platform CONCURRENCY=1000 PLATFORM_THREADS=900
  reasoned "connection attempts had to be repeated" "pool of 900 platform threads is smaller"
}
