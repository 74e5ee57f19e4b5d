#!/usr/bin/env bats
# What the host's scripts refuse at once, with no engine and no image. loadgen/tests/ holds loomlab to the same cases.

# shellcheck disable=SC2031  # every test is a process
load ../helpers

setup() {
  stub docker 'echo "docker was asked" >&2; exit 1'
  no_root
}

@test "the table means the same on both sides" {
  local verdict setting sentence
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  # shellcheck source=bin/variables.sh
  . "$LAB_ROOT/bin/variables.sh"
  # shellcheck disable=SC2329  # check_variables asks it
  approaches() { printf "%s\n" tomcat-virtual webflux-netty; }
  # shellcheck disable=SC2329
  names_of() { case $1 in */sizes) echo ec2, smoke ;; *) echo smoketest, soak ;; esac; }
  while IFS=' ' read -r verdict setting; do
    sentence=${setting##* => }
    setting=${setting%% => *}
    run env_check "$setting"
    case $verdict in
      taken) [ "$status" -eq 0 ] || { echo "$setting: $output"; return 1; } ;;
      refused) refused 2 "${setting%%=*}=" "${sentence/$setting/}" || { echo "$setting"; return 1; } ;;
    esac
  done <"$LAB_ROOT/loadgen/tests/golden/variables.txt"
}

env_check() (
  export "${1?}"
  check_variables
)

refuses() { # SETTING WORDS...
  local setting=$1
  shift
  run env "$setting" "$LAB_ROOT/bin/run" "${verb:-ab}"
  refused 2 "$setting" "$@"
}

@test "a refusal names the value and the cure" {
  refuses 'CONCURRENCY=$(reboot)' 1000000 CONCURRENCY=1000
  refuses DURATION=1h DURATION=60s
  refuses DELAY=60001 60000
  refuses ENDPOINT=/nope /httpbin/block/SECONDS /pinned
  refuses ENDPOINT=/httpbin/block ENDPOINT=/httpbin/block/0.3
  refuses 'ENDPOINT=/epoch-millis?delayInMillis=60001' 60000
  refuses ENDPOINT=/httpbin/block/007 "0 to 60"
  refuses SIZE=huge auto ec2 smoke
  refuses RATE=1e3 "RATE=500"
  refuses ERROR_SHARE=2 ERROR_SHARE=0.01
  verb=scenario refuses NAME=smoketst smoketest soak
  verb=scenario refuses SCALE=half SCALE=auto
}

@test "of several approaches, the one that is unknown is named" {
  run env APPROACH=tomcat-virtual,jettison "$LAB_ROOT/bin/run" ab
  refused 2 APPROACH=jettison webflux-netty
}

@test "NAME and SCALE of the environment are no part of another verb" {
  NAME=my-computer SCALE=9 CONCURRENCY=0 run "$LAB_ROOT/bin/run" ab
  refused 2 CONCURRENCY=0
}

@test "a report is of a folder that is there" {
  RESUME=nowhere run "$LAB_ROOT/bin/report"
  refused 2 RESUME=nowhere RESUME=latest
}

@test "a report takes nothing that the experiment's order says" {
  MARGIN=0.2 run "$LAB_ROOT/bin/report"
  refused 2 MARGIN=0.2 "make report" order.json
  RESUME=nowhere REPEATS=3 run "$LAB_ROOT/bin/report"
  refused 2 REPEATS=3 "make report"
  NAME=my-computer TOOL=vim RESUME=nowhere run "$LAB_ROOT/bin/report"
  refused 2 RESUME=nowhere
}

@test "make report ignores what the shell exports, and refuses what its command line says" {
  JDK=/opt/jdk SEED=mine GC='$(false)' RESUME=nowhere run make -C "$LAB_ROOT" report
  [[ $output == *"RESUME=nowhere "* ]] || { echo "$output"; return 1; }
  JDK=/opt/jdk run make -C "$LAB_ROOT" report RESUME=nowhere MARGIN=0.2
  [[ $output == *"MARGIN=0.2 "*"make report"* ]] || { echo "$output"; return 1; }
  JDK=/opt/jdk run make -C "$LAB_ROOT" report RESUME=nowhere JDK=21
  [[ $output == *"JDK=21 "*"make report"* ]] || { echo "$output"; return 1; }
}

@test "PLAN tells the plan and starts nothing" {
  local lab=$BATS_TEST_TMPDIR/lab
  stub docker 'case "$*" in
    "run --rm"*" loom-lab/loadgen plan sweep --tell") echo "$*" ;;
    *) echo "docker was asked for $*"; exit 1 ;;
  esac'
  mkdir -p "$lab/loadgen/src/loomlab/plan"
  cp "$LAB_ROOT/loadgen/src/loomlab/plan/variables.txt" "$lab/loadgen/src/loomlab/plan"
  cp -r "$LAB_ROOT/bin" "$LAB_ROOT/compose.yaml" "$LAB_ROOT/.env" "$lab"
  printf '#!/bin/sh\n' | tee "$lab/bin/engine" >"$lab/bin/prepare"
  PROMETHEUS_PORT=19091 GRAFANA_PORT=13001 RESULTS_PORT=19081 \
    PLAN=1 CONCURRENCY=500,2000 TOOL=hey run "$lab/bin/run" sweep
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ $output == *"--env CONCURRENCY=500,2000"* && $output == *"--env TOOL=hey"* ]] || { echo "$output"; return 1; }
  PLAN=1 run "$LAB_ROOT/bin/run" finish
  refused 2 PLAN=1 "make finish"
}

@test "RESUME that names nothing is refused" {
  RESUME=/ run "$LAB_ROOT/bin/run" finish
  refused 2 RESUME=/
}

@test "RESUME goes with finish alone, and with nothing that its order says" {
  RESUME=latest run "$LAB_ROOT/bin/run" ab
  refused 2 RESUME=latest "make finish RESUME=latest"
  RESUME=latest DURATION=60s run "$LAB_ROOT/bin/run" finish
  refused 2 DURATION=60s RESUME=latest
}

@test "a tool that is none is refused" {
  run "$LAB_ROOT/bin/run"
  refused 2 "ab hey vegeta users"
  run "$LAB_ROOT/bin/run" wrk
  refused 2 wrk "ab hey vegeta users"
}

@test "a scenario without a NAME names the cure" {
  run "$LAB_ROOT/bin/run" scenario
  refused 2 "make scenario NAME=smoketest"
}

@test "a paper is one that the lab has, and is asked for by name" {
  run "$LAB_ROOT/bin/reproduce"
  refused 2 "make reproduce PAPER=virtual-threads-hey"
  PAPER=virtual-threads run "$LAB_ROOT/bin/reproduce"
  refused 2 PAPER=virtual-threads virtual-threads-hey spring-boot-edition
}
