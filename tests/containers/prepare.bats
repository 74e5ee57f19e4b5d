#!/usr/bin/env bats
# Images are as the sources are, whoever built them last.

load ../helpers

STAMP=.cache/built/loadgen-25

setup() {
  cd "$LAB_ROOT" || return
  bin/prepare loadgen
  touch "$BATS_TEST_TMPDIR/before"
}

built_anew() { [ "$STAMP" -nt "$BATS_TEST_TMPDIR/before" ]; }

@test "an image is left alone while no source has changed" {
  bin/prepare loadgen
  run built_anew
  [ "$status" -ne 0 ]
}

@test "an image is built again once a source has changed, be it older than the image" {
  cp loadgen/pyproject.toml "$BATS_TEST_TMPDIR/kept"
  touch -t 202001010000 "$BATS_TEST_TMPDIR/kept"
  cp -p "$BATS_TEST_TMPDIR/kept" loadgen/pyproject.toml
  bin/prepare loadgen
  built_anew
}

@test "an image that somebody else has put in its place is built again" {
  local own
  own=$(docker image inspect --format '{{.Id}}' loom-lab/loadgen)
  docker tag loom-lab/tools loom-lab/loadgen
  bin/prepare loadgen
  [ "$(docker image inspect --format '{{.Id}}' loom-lab/loadgen)" = "$own" ]
}

@test "an image on another base is built again" {
  PYTHON_IMAGE=loom-lab/no-such-base run bin/prepare loadgen
  built_anew || [ "$status" -eq 3 ] # stand-ins name their own base
}
