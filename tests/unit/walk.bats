#!/usr/bin/env bats
# How an experiment's runs follow one another, without an engine.

# shellcheck disable=SC2030,SC2031,SC2034,SC2329  # every test is a process; bin/experiment.sh reads and calls what is set here
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

@test "a failure of the lab's own program outlives the run that it judges or measures" {
  loomlab() { [ "$2" != judge ] || return "$gives"; }
  local gives
  for gives in 0 1 2; do judge_run 1-a; done
  gives=4
  run judge_run 1-a
  [ "$status" -eq 4 ]
  compose() { :; }
  judge_run() { :; }
  for gives in 1 4; do
    stub docker "case \$* in *ExitCode*) echo $gives ;; esac"
    LAB_BROKE=""
    mkdir -p "$EXPERIMENT/runs/1-a/raw"
    end_run 1-a
    [ "$LAB_BROKE" = "$([ $gives -ne 4 ] || echo yes)" ]
  done
}

@test "an experiment ends with the code of its summary" {
  mkdir -p "$EXPERIMENT/runs/1-a"
  containers_of_runs() { :; }
  restore() { :; }
  release_lock() { :; }
  summarise() { return "$(($1 + 1))"; }
  stub docker ':'
  run wind_up 0
  [ "$status" -eq 1 ]
  run wind_up 129
  [ "$status" -eq 130 ]
}

@test "a run is told how long its approach took to start, and how long it then waited" {
  # shellcheck source=bin/experiment.sh
  . "$LAB_ROOT/bin/experiment.sh"
  EXPERIMENT=$BATS_TEST_TMPDIR EXPECTED_S=1 LONGEST_S=1
  start_services() { SECONDS=$((SECONDS + 700)); }
  wait_for_background() { SECONDS=$((SECONDS + 20)); }
  in_loadgen() { echo "$*" >"$EXPERIMENT/asked"; }
  end_run() { :; }
  stub docker ':'
  measure_one 1-a a KEY=value
  [[ $(cat "$EXPERIMENT/asked") =~ --start-s\ ([0-9]+)\ --waited-s\ ([0-9]+) ]]
  [ "${BASH_REMATCH[1]}" -ge 700 ]
  [ "${BASH_REMATCH[2]}" -ge 20 ] && [ "${BASH_REMATCH[2]}" -lt 700 ]
}

@test "what was up before is up again with the user's settings, and only what was not is removed" {
  EXPECTED_S=0 LONGEST_S=0 NOTE=""
  approaches() { printf 'a\nb\n'; }
  service_runs() { [[ " a backend " == *" $1 "* ]]; }
  write_engine_facts() { :; }
  ready_beside_the_approach() { :; }
  compose() { echo "$* KEY=${KEY:-}" >>"$EXPERIMENT/asked"; }
  stub docker ':'
  use_settings KEY=value
  begin_experiment
  restore
  [ "$(cat "$EXPERIMENT/asked")" = $'stop --timeout 5 a KEY=value\nrm --stop --force prometheus cadvisor KEY=value\nup --detach --no-deps a backend KEY=' ]
}
