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
    { [[ " $SPOILT " != *" $1 "* ]] || echo "run $1-try-2 $2 GC=g1" >>"$EXPERIMENT/.again"; } &
    BACKGROUND=$!
  }
  use_plan "LAB_EXPERIMENT=e
NOTE=a \$(note)
run 1-a a GC=g1
run 2-b b GC=g1
run 3-a a GC=g1"
  EXPERIMENT=$BATS_TEST_TMPDIR
  touch "$EXPERIMENT/order.json"
}

@test "an experiment is owned once, and by nobody where its owner's name cannot be written" {
  (trap '' XFSZ && ulimit -f 0 && own_experiment me) && return 1
  [ ! -e "$EXPERIMENT/.owner" ]
  own_experiment me
  run own_experiment another
  [ "$status" -eq "$HOST_CANNOT" ]
  [ "$(cat "$EXPERIMENT/.owner")" = me ]
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

@test "a judgement fails only where the lab does" {
  loomlab() { [ "$2 ${*: -1}" != "judge /results/e/runs/1-a" ] || return "$gives"; }
  local gives run
  for run in 1-a 2-b; do mkdir -p "$EXPERIMENT/runs/$run/raw" && touch "$EXPERIMENT/runs/$run/raw/request.json"; done
  for gives in 0 1 2 4; do
    run judge_runs "1-a 2-b"
    [ "$status" -eq $((gives == 4 ? 4 : 0)) ]
  done
}

@test "a failure of the lab's own program outlives the run that it measures" {
  local gives
  compose() { :; }
  for gives in 1 4; do
    stub docker "case \$* in *ExitCode*) echo $gives ;; esac"
    LAB_BROKE=""
    mkdir -p "$EXPERIMENT/runs/1-a/raw"
    end_runs 1-a a
    [ "$LAB_BROKE" = "$([ $gives -ne 4 ] || echo yes)" ]
  done
}

@test "a plan sets only what a plan may set, one word each" {
  local line
  for line in PATH=/tmp BASH_ENV=/tmp/rc 'GC=g1 zgc' 'GC=$(reboot)' 'EXPECTED_S=a[0]' LAB_EXPERIMENT=../x 'run ../x a GC=g1' \
    'run 1-a --rm GC=g1' 'run 1-a a LD_PRELOAD=x' 'run 1-a a' 'run 1-a, a GC=g1' 'run 1-a a,;b GC=g1' \
    DOCKER_HOST=tcp://x COMPOSE_FILE=/x LAB_RESULTS=/ gc=g1 ' GC=g1' 'GC=*' 'GC=~' $'GC=g1\r' $'GC=g1\tPATH=/x' 'LAB_EXPERIMENT=-x' \
    'LAB_EXPERIMENT=.' 'run 1-a a GC=g1 PATH=/x' ' run 1-a a GC=g1' 'run -x a GC=g1' 'run 1-a a GC=g1 SUBJECT=$(x)'; do
    run use_plan "LAB_EXPERIMENT=e"$'\n'"$line"
    [ "$status" -eq 4 ] && [[ $output == *"$line"* ]] || { echo "$line: $output"; return 1; }
  done
  [ "$LAB_EXPERIMENT $NOTE" = 'e note: a $(note)' ]
}

@test "an experiment ends with the code of its summary" {
  mkdir -p "$EXPERIMENT/runs/1-a"
  containers_of() { :; }
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
  end_runs() { :; }
  stub docker ':'
  measure_one 1-a a GC=g1
  [[ $(cat "$EXPERIMENT/asked") =~ --start-s\ ([0-9]+)\ --waited-s\ ([0-9]+) ]]
  [ "${BASH_REMATCH[1]}" -ge 700 ]
  [ "${BASH_REMATCH[2]}" -ge 20 ] && [ "${BASH_REMATCH[2]}" -lt 700 ]
}

@test "what was up before is up again with the user's settings, and only what was not is removed" {
  EXPECTED_S=0 LONGEST_S=0
  approaches() { printf 'a\nb\n'; }
  services_up() { printf 'a\nbackend\ngrafana\n'; }
  write_engine_facts() { :; }
  ready_beside_the_approach() { :; }
  compose() { echo "$* GC=${GC:-}" >>"$EXPERIMENT/asked"; }
  stub docker ':'
  export GC=g1
  begin_experiment
  [ "$LAB_WERE_UP" = "a backend" ]
  : >"$EXPERIMENT/asked"
  restore
  [ "$(cat "$EXPERIMENT/asked")" = $'rm --stop --force prometheus cadvisor GC=g1\nup --detach --wait-timeout=200 a backend GC=' ] ||
    { cat "$EXPERIMENT/asked"; return 1; }
}

@test "a database is started where the plan says so, not where the environment does, and its data go with it" {
  EXPECTED_S=0 LONGEST_S=0
  approaches() { printf 'a\nb\n'; }
  services_up() { :; }
  write_engine_facts() { :; }
  ready_beside_the_approach() { :; }
  compose() { echo "$*" >>"$EXPERIMENT/asked"; }
  stub docker ':'
  export LAB_DATABASE=mine
  use_plan $'LAB_EXPERIMENT=e\nNOTE=\nrun 1-a a GC=g1'
  [ -z "${LAB_DATABASE:-}" ]
  use_plan $'LAB_EXPERIMENT=e\nNOTE=\nLAB_DATABASE=1\nrun 1-a a GC=g1'
  EXPERIMENT=$BATS_TEST_TMPDIR
  begin_experiment
  [ "$STARTED" = "prometheus cadvisor backend database database-exporter" ]
  restore
  grep -qx 'rm --stop --force --volumes prometheus cadvisor backend database database-exporter' "$EXPERIMENT/asked" ||
    { cat "$EXPERIMENT/asked"; return 1; }
}

@test "every run has a database of its own, which is up before the approach" {
  # shellcheck source=bin/experiment.sh
  . "$LAB_ROOT/bin/experiment.sh"
  EXPERIMENT=$BATS_TEST_TMPDIR EXPECTED_S=1 LONGEST_S=1 LAB_DATABASE=1
  local asked=$EXPERIMENT/asked up=$EXPERIMENT/up
  containers_of() { [[ " $* " != *" database "* || ! -e $EXPERIMENT/up ]] || echo 0123456789ab; }
  start_beside() { echo "database $1" >>"$EXPERIMENT/asked" && touch "$EXPERIMENT/up"; }
  start_services() { echo "approach $2" >>"$EXPERIMENT/asked"; }
  in_loadgen() { :; }
  keep_container() { :; }
  judge_runs() { :; }
  stub docker "case \$* in 'rm --force --volumes'*0123456789ab) rm $up && echo removed >>$asked ;; esac"
  touch "$up"
  measure_one 1-a a GC=g1
  measure_one 2-b b GC=g1
  [ "$(paste -sd, - <"$asked")" = "approach a,removed,database --wait,approach b,removed" ] || { cat "$asked"; return 1; }
}
