#!/usr/bin/env bats
# What the user or the host does wrong: what was measured is kept, what cannot work is refused before anything starts.

load ../helpers

log="" lab=""

teardown() { stop_lab; }

@test "Ctrl-C keeps what was measured, marks it unfinished and leaves nothing running" {
  local latest
  latest=$(readlink "$LAB_ROOT/results/latest" || true)
  start_lab CONCURRENCY=50 DURATION=12s WARMUP_CAP=1s SIZE=smoke APPROACH=microhttp-virtual,microhttp-async
  wait_for_line "measure [2-9][0-9]" 120
  kill -INT -- "-$lab"
  end_of_lab
  [ "$status" -ne 0 ]
  [ "$(run_of '.finished')" = null ]
  [ "$(run_of '.runs[0].requests > 0')" = true ]
  [ "$(run_of '.runs[0].latency_ms.p50 > 0')" = true ]
  [ "$(run_of '.runs[0].verdict')" = invalid ]
  [ "$(readlink "$LAB_ROOT/results/latest" || true)" = "$latest" ]
}

@test "a request that is wrong starts nothing and leaves results as they were" {
  local before
  before=$(ls "$LAB_ROOT/results")
  run make -C "$LAB_ROOT" run-ab CONCURRENCY=abc
  [ "$status" -eq 2 ]
  [ -z "$(lab_containers)" ]
  [ "$(ls "$LAB_ROOT/results")" = "$before" ]
}

@test "a taken port is refused before anything starts" {
  local holder
  holder=$(docker run --detach --rm --publish 127.0.0.1:19090:8081 --env BACKEND_DELAY=1 \
    --env LAB_BACKLOG=16 --env LAB_MAX_CONNECTIONS=10 loom-lab/backend:jdk25)
  CONCURRENCY=50 PROMETHEUS_PORT=19090 run "$LAB_ROOT/bin/run" ab
  docker rm --force "$holder" >/dev/null
  refused 3 PROMETHEUS_PORT=19090
  [ -z "$(lab_containers)" ]
}

@test "a full disk under results is refused before anything starts" {
  [ "$(id -u)" -eq 0 ] && [ "$(uname -s)" = Linux ] || skip "needs to mount a small disk"
  mkdir -p "$LAB_ROOT/results"
  mount -t tmpfs -o size=1m tmpfs "$LAB_ROOT/results"
  CONCURRENCY=50 run "$LAB_ROOT/bin/run" ab
  umount "$LAB_ROOT/results"
  refused 3 "results/ has" "MB free"
}

@test "read-only results are refused before anything starts" {
  [ "$(id -u)" -eq 0 ] && [ "$(uname -s)" = Linux ] || skip "needs to mount a read-only disk"
  mount -t tmpfs -o size=1m,ro tmpfs "$LAB_ROOT/results"
  CONCURRENCY=50 run "$LAB_ROOT/bin/run" ab
  umount "$LAB_ROOT/results"
  refused 3 "results/ cannot be written"
}
