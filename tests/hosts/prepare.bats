#!/usr/bin/env bats
# Images match the sources, whoever built them last.

load ../helpers

SOURCE=loadgen/scenarios/smoketest.yaml

setup() {
  "$LAB_ROOT/tests/copy" "$BATS_TEST_TMPDIR/lab"
  cd "$BATS_TEST_TMPDIR/lab" || return
  bin/prepare loadgen
}

# The image is this checkout's again.
teardown() { "$LAB_ROOT/bin/prepare" loadgen; }

# prepare: then `built` tells whether that built the image again.
prepare() {
  touch "$BATS_TEST_TMPDIR/before"
  bin/prepare loadgen
}

built() { [ .cache/built/loadgen-25 -nt "$BATS_TEST_TMPDIR/before" ]; }

image() { docker image inspect --format '{{.Id}}' loom-lab/loadgen; }

@test "an image is left alone while its sources are the same" {
  touch "$SOURCE"
  prepare
  run built
  [ "$status" -ne 0 ]
}

@test "an image is built again once a source has changed, whatever its date" {
  echo "# changed" >>"$SOURCE"
  touch -t 202001010000 "$SOURCE"
  prepare
  built
  cp -p "$LAB_ROOT/$SOURCE" "$SOURCE"
  prepare
  built
}

@test "an image is built where a base of another one is missing" {
  TEMURIN_21_IMAGE=loom-lab/no-such-base prepare
  built
}

@test "an image that somebody else has put in its place is built again" {
  local other
  other=$(docker image inspect --format '{{.Id}}' loom-lab/tools)
  docker tag loom-lab/tools loom-lab/loadgen
  bin/prepare loadgen
  [ "$(image)" != "$other" ]
}

@test "an image is built again when it is to be built in another way" {
  [ -e compose.override.yaml ] || echo "services: {}" >compose.override.yaml
  echo "# changed" >>compose.override.yaml
  prepare
  built
}
