#!/usr/bin/env bats
# What bin/scenario refuses before anything is built or started.

load ../helpers

setup() { stub docker 'echo "docker was asked" >&2; exit 1'; }

scenario() { env "$@" "$LAB_ROOT/bin/scenario"; }

@test "a missing NAME names the cure" {
  run scenario
  refused 2 "NAME is not set" "make scenario NAME=smoketest"
}

@test "a misspelt NAME gets the nearest names" {
  run scenario NAME=smoketst
  refused 2 NAME=smoketst "nearest are smoketest"
  run scenario NAME=25k-vus-smooth-spike-get-movie
  refused 2 "nearest are 25k-vus-smooth-spike-get-movies"
}

@test "a NAME that is a path or a pattern is no scenario" {
  run scenario NAME=../scenarios/smoketest
  refused 2 "is no scenario"
  run scenario 'NAME=smoke.*'
  refused 2 "is no scenario"
}

@test "a SCALE that is no factor is refused" {
  local scale
  for scale in 0 2 -1 0.0 1.5 half 0.00001; do
    run scenario NAME=smoketest SCALE=$scale
    refused 2 "SCALE=$scale" SCALE=auto
  done
}

@test "what the scenario says itself is not taken from elsewhere" {
  local setting
  for setting in CONCURRENCY=5 REQUESTS=5 RATE=5 ENDPOINT=/movies DELAY=5; do
    run scenario NAME=smoketest "$setting"
    refused 2 "$setting" "NAME=smoketest" SCALE
  done
}

@test "a DURATION that is no time is refused" {
  run scenario NAME=smoketest DURATION=long
  refused 2 DURATION=long DURATION=60s
}
