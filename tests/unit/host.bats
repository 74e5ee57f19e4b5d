#!/usr/bin/env bats
# What the host is asked before anything starts, on hosts of our making.

# shellcheck disable=SC2031  # every test is a process
load ../helpers

setup() {
  host_of 2 24000
  # Where nothing of a lab that is up listens.
  export PROMETHEUS_PORT=1 GRAFANA_PORT=2 RESULTS_PORT=3
}

# listening PORTS: other programs listen there, and the engine has the lab's containers that $UP and, if they have ended, $ENDED say.
listening() {
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  ports=" $* "
  # shellcheck disable=SC2329  # check_ports asks it
  listens() { [[ $ports == *" $1 "* ]]; }
  export UP ENDED
  stub docker 'echo "${UP:-}"; case $* in *--all*) echo "${ENDED:-}" ;; esac'
}

@test "a published port that another program holds is refused" {
  local name
  for name in PROMETHEUS_PORT GRAFANA_PORT RESULTS_PORT; do
    listening "${!name}"
    run check_ports
    refused 3 "$name=${!name} is taken" "use $name=$((${!name} + 1))"
  done
}

@test "a port of the lab's own container is its own, but one that has ended excuses no program that holds its port" {
  UP=grafana ENDED=prometheus listening 1 2
  check_ports --all
  run check_ports
  refused 3 PROMETHEUS_PORT=1
}

@test "a port that is none is refused" {
  CONCURRENCY=100 GRAFANA_PORT='a[0]' run "$LAB_ROOT/bin/run" run-ab
  refused 2 'GRAFANA_PORT=a[0]'
  CONCURRENCY=100 GRAFANA_PORT=$PROMETHEUS_PORT run "$LAB_ROOT/bin/run" run-ab
  refused 2 "GRAFANA_PORT=$PROMETHEUS_PORT"
  CONCURRENCY=100 GRAFANA_PORT=65536 run "$LAB_ROOT/bin/run" run-ab
  refused 2 GRAFANA_PORT=65536
}

@test "results that cannot be written are refused" {
  echo "a file where the folder should be" >"$BATS_TEST_TMPDIR/results"
  LAB_RESULTS=$BATS_TEST_TMPDIR/results CONCURRENCY=100 run "$LAB_ROOT/bin/run" run-ab
  refused 3 "$BATS_TEST_TMPDIR/results cannot be written"
}

@test "results that Docker cannot mount are refused" {
  LAB_RESULTS=$BATS_TEST_TMPDIR/a:b CONCURRENCY=100 run "$LAB_ROOT/bin/run" run-ab
  refused 3 "$BATS_TEST_TMPDIR/a:b has a colon"
  [ ! -e "$BATS_TEST_TMPDIR/a:b" ]
}

@test "a checkout that the users of containers cannot read is refused with the cure" {
  local copy=$BATS_TEST_TMPDIR/lab
  mkdir -p "$copy"
  cp -R "$LAB_ROOT/bin" "$LAB_ROOT/prometheus" "$copy/"
  chmod -R go-rwx "$copy/prometheus"
  # shellcheck source=bin/lib.sh
  . "$copy/bin/lib.sh"
  run check_checkout
  refused 3 "$copy/prometheus cannot be read" "chmod -R go+rX $copy"
  chmod -R go+rX "$copy"
  check_checkout
  TMPDIR=$copy/bin/lib.sh run check_checkout
  refused 3 "TMPDIR"
}

@test "loomlab is told what the user exports, and nothing else" {
  # shellcheck source=bin/variables.sh
  . "$LAB_ROOT/bin/variables.sh"
  # shellcheck disable=SC2329  # ask_loomlab calls it
  loomlab() { printf '%s\n' "$@"; }
  run ask_loomlab plan run-ab
  [ "$(grep -vxF -e --env <<<"$output")" = "$(variable_names)"$'\n--\nplan\nrun-ab' ] || { echo "$output"; return 1; }
}

@test "what is written under a strict umask can be read by the users of containers, and results that cannot are refused" {
  umask 077
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  LAB_RESULTS=$BATS_TEST_TMPDIR/results
  check_checkout
  mkdir "$LAB_RESULTS/run" && touch "$LAB_RESULTS/run/file"
  [ -z "$(find "$LAB_RESULTS" -type d ! -perm -005 -o -type f ! -perm -004)" ]
  chmod 700 "$LAB_RESULTS"
  run check_checkout
  refused 3 "$LAB_RESULTS/ cannot be read" "chmod -R go+rX" "$LAB_RESULTS."
}

@test "a value between quotes is without them, as for Compose" {
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  printf '%s\n' 'A="1 2"' "B='3'" 'C=4"5"' 'D="' 'E=' >"$BATS_TEST_TMPDIR/env"
  unset A B C D E
  load_env "$BATS_TEST_TMPDIR/env"
  [ "$A|$B|$C|$D|$E" = '1 2|3|4"5"|"|' ]
}

@test "doctor on a host that lacks things says each with a cure and exits 3" {
  host_of 1 2000
  run "$LAB_ROOT/bin/doctor"
  [ "$status" -eq 3 ]
  [[ $output == *"will not work  engine"*"start Docker"* ]]
  [[ $output == *"will not work  CPUs"*"use a larger host"* ]]
  [[ $output == *"will not work  memory"* ]]
}
