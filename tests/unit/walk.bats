#!/usr/bin/env bats
# How an experiment's runs follow one another, without an engine.

# shellcheck disable=SC2031,SC2034,SC2329  # every test is a process; bin/experiment.sh reads and calls what is set here
load ../helpers

setup() {
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  # shellcheck source=bin/experiment.sh
  . "$LAB_ROOT/bin/experiment.sh"
  MADE="" SPOILT=""
  start_beside() { MADE="$MADE +"; }
  # A run ends, and its verdict comes while the next one starts.
  measure_one() {
    wait_for_background
    MADE="$MADE $1"
    { [[ " $SPOILT " != *" $1 "* ]] || echo "run $1-try-2 $2 KEY=value" >>"$EXPERIMENT/.again"; } &
    BACKGROUND=$!
  }
  use_plan "LAB_EXPERIMENT=.
run 1-a a KEY=value
run 2-b b KEY=value
run 3-a a KEY=value"
  EXPERIMENT=$BATS_TEST_TMPDIR
}

@test "every run is made once, in the order of the plan" {
  walk
  [ "$MADE" = " 1-a 2-b 3-a" ]
  [ "$RUNS_TOTAL" -eq 3 ]
}

@test "what the host spoilt is made again as soon as that is known, the last run too" {
  SPOILT="1-a 3-a 3-a-try-2"
  walk
  [ "$MADE" = " 1-a + 2-b 1-a-try-2 3-a + 3-a-try-2 + 3-a-try-2-try-2" ] || { echo "$MADE"; return 1; }
  [ "$RUNS_TOTAL" -eq 6 ]
  [ ! -e "$EXPERIMENT/.again" ]
}

@test "an experiment in which the lab itself failed ends with 4, whatever its runs are" {
  local gives
  BACKGROUND=""
  loomlab() { return "$gives"; }
  for gives in 0 1; do
    { (exit 4) & }
    BACKGROUND=$!
    LAB_BROKE=""
    wait_for_background
    run summarise 0
    [ "$status" -eq 4 ] || { echo "exit $status where summarise gave $gives"; return 1; }
  done
  for gives in 0 1 2; do
    LAB_BROKE=""
    run summarise 0
    [ "$status" -eq "$gives" ]
  done
}
