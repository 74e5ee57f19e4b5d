#!/usr/bin/env bats
# What the host's scripts refuse at once, with no engine and no image: names, and verbs that lack what they need. Values are loomlab's.

# shellcheck disable=SC2031  # every test is a process
load ../helpers

setup() {
  stub docker 'echo "docker was asked" >&2; exit 1'
  no_root
}

refuses() { # VERB SETTING WORDS...
  local verb=$1 setting=$2
  shift 2
  run env "$setting" "$LAB_ROOT/bin/run" "$verb"
  refused 2 "$@"
}

@test "a verb that lacks what it needs names the cure" {
  run "$LAB_ROOT/bin/run" run-ab
  refused 2 "make run-ab CONCURRENCY=1000"
  run "$LAB_ROOT/bin/run" run-vegeta
  refused 2 "make run-vegeta RATE=500"
  run "$LAB_ROOT/bin/run" scenario
  refused 2 "make scenario NAME=smoketest"
  run "$LAB_ROOT/bin/run" reproduce
  refused 2 "make reproduce BENCHMARK=virtual-threads-hey"
}

@test "a variable that does not go with the verb is refused" {
  CONCURRENCY=7 refuses run-ab RATE=5 RATE=5 "make run-ab"
  refuses finish DURATION=60s DURATION=60s "make finish"
  refuses finish PLAN=1 PLAN=1 "make finish"
  CONCURRENCY=7 refuses run-ab RESUME=latest RESUME=latest "make run-ab"
  MARGIN=0.2 run "$LAB_ROOT/bin/run" report
  refused 2 MARGIN=0.2 "make report"
}

@test "names that a shell may have for its own purposes are no part of another verb" {
  NAME=my-computer SCALE=9 TOOL=vim run "$LAB_ROOT/bin/run" run-ab
  refused 2 CONCURRENCY=1000
  NAME=my-computer TOOL=vim JDK=/opt/jdk RESUME=nowhere run "$LAB_ROOT/bin/run" report
  refused 2 RESUME=nowhere
}

@test "make refuses a name that there is not, with the nearest, and one that the verb does not take" {
  run make -C "$LAB_ROOT" run-ab CONCURENCY=500
  [ "$status" -ne 0 ] && [[ $output == *"CONCURENCY "*"CONCURRENCY"* && $output != *"docker was asked"* ]] || { echo "$output"; return 1; }
  run make -C "$LAB_ROOT" down RATE=500
  [ "$status" -ne 0 ] && [[ $output == *"RATE "*"make down"* && $output != *"docker was asked"* ]] || { echo "$output"; return 1; }
  run make -C "$LAB_ROOT" help VARIABLE=RATE
  [ "$status" -eq 0 ] && [[ $output == *"RATE: "*RATE=500* ]] || { echo "$output"; return 1; }
  run make -C "$LAB_ROOT" help VARIABLE=CONCURENCY
  [ "$status" -ne 0 ] && [[ $output == *"CONCURENCY "*"CONCURRENCY"* ]] || { echo "$output"; return 1; }
  run make -C "$LAB_ROOT" "x';touch $BATS_TEST_TMPDIR/ran;'" RATE=500
  [ "$status" -ne 0 ] && [ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "make report ignores what the shell exports, and refuses what its command line says" {
  JDK=/opt/jdk SEED=mine GC='$(false)' RESUME=nowhere run make -C "$LAB_ROOT" report
  [[ $output == *"RESUME=nowhere "* ]] || { echo "$output"; return 1; }
  run make -C "$LAB_ROOT" report RESUME=nowhere MARGIN=0.2
  [[ $output == *"MARGIN "*"make report"* ]] || { echo "$output"; return 1; }
}

@test "a report is of a folder that is there" {
  RESUME=nowhere run "$LAB_ROOT/bin/run" report
  refused 2 RESUME=nowhere RESUME=latest
}

@test "make takes a value literally, nothing in it is executed, and PLAN only tells the plan" {
  stubbed_lab
  cp "$LAB_ROOT/Makefile" "$CHECKOUT"
  stub docker 'case "$*" in
    info* | ps*) ;;
    *" --env CONCURRENCY "*" loom-lab/loadgen plan sweep --tell") echo "told of $CONCURRENCY with $TOOL" ;;
    *) echo "docker was asked for $*" && exit 1 ;;
  esac'
  run make -C "$CHECKOUT" sweep PLAN=1 TOOL=hey "CONCURRENCY=\$(shell touch $BATS_TEST_TMPDIR/ran)\`touch $BATS_TEST_TMPDIR/ran\`"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ $output == *"told of \$(shell touch $BATS_TEST_TMPDIR/ran)\`touch $BATS_TEST_TMPDIR/ran\` with hey"* ]] || { echo "$output"; return 1; }
  [ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "RESUME that names nothing is refused" {
  local name
  for name in / .. 'a b' '$(reboot)' /elsewhere/x; do
    RESUME=$name run "$LAB_ROOT/bin/run" finish
    refused 2 "RESUME=$name"
  done
}

@test "a verb that is none is refused" {
  run "$LAB_ROOT/bin/run"
  refused 2 run-ab sweep
  run "$LAB_ROOT/bin/run" wrk
  refused 2 wrk run-ab
}
