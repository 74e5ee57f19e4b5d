#!/usr/bin/env bats
# What the host lacks is refused before anything starts.

load ../helpers

setup() {
  LAB_RESULTS=$BATS_TEST_TMPDIR/results
  mkdir "$LAB_RESULTS"
}

teardown() {
  [ -z "${holder:-}" ] || docker rm --force "$holder" >/dev/null
  ! mountpoint --quiet "$LAB_RESULTS" || umount "$LAB_RESULTS"
}

mounts_disks() { [ "$(id -u)" -eq 0 ] && [ "$(uname -s)" = Linux ]; }

@test "a taken port" {
  holder=$(docker run --detach --rm --publish 127.0.0.1:19090:8081 --env BACKEND_DELAY=1 \
    --env LAB_BACKLOG=16 --env LAB_MAX_CONNECTIONS=10 loom-lab/backend:jdk25)
  before=$(lab_containers)
  CONCURRENCY=50 PROMETHEUS_PORT=19090 run "$LAB_ROOT/bin/run" run-ab
  refused 3 PROMETHEUS_PORT=19090
  [ "$(lab_containers)" = "$before" ]
}

@test "a full disk under results" {
  mounts_disks || skip "needs to mount a small disk"
  mount -t tmpfs -o size=1m tmpfs "$LAB_RESULTS"
  CONCURRENCY=50 run "$LAB_ROOT/bin/run" run-ab
  refused 3 "results/ has" "MB free"
}

@test "read-only results" {
  mounts_disks || skip "needs to mount a read-only disk"
  mount -t tmpfs -o size=1m,ro tmpfs "$LAB_RESULTS"
  CONCURRENCY=50 run "$LAB_ROOT/bin/run" run-ab
  refused 3 "$LAB_RESULTS cannot be written"
}
