#!/usr/bin/env bats
# Rules of the verdict, provoked for real; those on what happens in mid-run are in midrun.bats.

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

# At less it does not even tell Prometheus how late it is.
@test "a backend squeezed to half of the CPU that it needs" {
  # shellcheck disable=SC2086
  start_lab $RUN CONCURRENCY=300
  provoke squeeze 0.15 container_of backend
  judged invalid backend_throttled backend_late_mean backend_late_p99
}

@test "an approach that is started again in mid-run" {
  # shellcheck disable=SC2086
  start_lab run-vegeta $RUN DURATION=20s RATE=50
  restart() { docker restart --timeout 0 "$(container_of microhttp-virtual)"; }
  provoke restart
  judged invalid container_failed process_restarted too_many_errors
}

@test "an approach under a CPU quota, beside which a process of its container is killed for memory" {
  size_with APPROACH_CPUS=0.4 APPROACH_MEMORY=384m
  # shellcheck disable=SC2086
  start_lab $RUN SIZE=provoked DURATION=18s # a quota slows the devourer, too
  # tail keeps the last line of an endless one: all of it
  devour() { docker exec "$(container_of microhttp-virtual)" sh -c 'tail /dev/zero' || true; }
  provoke devour
  judged invalid container_failed throttled
}

@test "a backend flooded by others" {
  fills_a_cpu
  size_with MONITORING_CPUSET=0
  # shellcheck disable=SC2086
  start_lab $RUN SIZE=provoked CONCURRENCY=10 DURATION=28s
  # Pipelined, so that it takes the sender next to nothing.
  flood() {
    docker run --rm --network loom-lab_under_load --cpuset-cpus 0 --entrypoint python3 loom-lab/loadgen -c '
import socket, time
with socket.create_connection(("backend", 8080)) as backend:
    end = time.monotonic() + 20 # the first seconds go to compiling
    while time.monotonic() < end:
        backend.sendall(b"GET /nothing HTTP/1.1\r\nHost: backend\r\n\r\n" * 100)
        backend.recv(1 << 20)'
  }
  provoke flood
  judged invalid generator_cpus backend_cpus backend_loop
}

@test "rates that an approach cannot reach, all or some" {
  size_with APPROACH_CPUS=0.3
  start_lab scenario NAME=rate-ladder SCALE=0.5 DURATION=40s WARMUP_CAP=1s SIZE=provoked APPROACH=microhttp-virtual REPEATS=2
  wait_for_line "1/2.*measure [0-9]" 120
  docker kill "$(container_of "$(sed -nE 's/.*1\/2 ([a-z-]+).*measure.*/\1/p' "$log" | head -n 1)")"
  judged invalid no_step_held
  fails 2 steps_missed
}

@test "a heap that is too small" {
  size_with APPROACH_MEMORY=704m
  # shellcheck disable=SC2086
  start_lab $RUN SIZE=provoked DURATION=15s CONCURRENCY=1800 APPROACH=tomcat-virtual
  failed gc_heavy
}

@test "a rate that no 20 connections can carry" {
  # shellcheck disable=SC2086
  start_lab run-vegeta $RUN CONCURRENCY=20 RATE=200
  judged invalid rate_missed work_dropped
}

@test "an approach with 96 MB is killed for memory" {
  size_with APPROACH_MEMORY=96m
  # shellcheck disable=SC2086
  start_lab $RUN SIZE=provoked CONCURRENCY=300 APPROACH=tomcat-virtual
  judged invalid container_failed
  [ "$(outcome_of gc_heavy)" = "could not be checked" ]
}

@test "a listen queue of 1" {
  export BACKLOG=1
  # shellcheck disable=SC2086
  start_lab $RUN APPROACH=tomcat-platform CONCURRENCY=1000
  failed connections_lost
}

@test "a generator squeezed to a fiftieth of a CPU, and a run without a warm-up" {
  # shellcheck disable=SC2086  # one word a variable
  start_lab run-users $RUN CONCURRENCY=1000
  provoke squeeze 0.02 generator
  judged invalid generator_throttled half_cold
}

@test "a backend that fails one answer in five, and connections to it that end after each answer" {
  export KEEP_ALIVE_MS=1
  # shellcheck disable=SC2086
  start_lab $RUN APPROACH=webflux-netty DURATION=15s ERROR_SHARE=0.2
  judged invalid too_many_errors other_backend_requests backend_reconnected connections_reopened short_interior
}

@test "a rate that is kept on average by requests that start seconds late" {
  # shellcheck disable=SC2086
  start_lab run-vegeta $RUN RATE=100 CONCURRENCY=200 DURATION=30s
  wait_for_line "measure [2-4][0-9] %" 120 # amid what counts
  hold 4 backend
  judged invalid started_too_late
  [ "$(outcome_of rate_missed)" = passed ]
  [ "$(run_of '.runs[0] | .latency_ms.mean > .latency_from_start_ms.mean + 100')" = true ]
}
