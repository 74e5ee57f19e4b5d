#!/usr/bin/env bats
# What the host is asked before anything starts, on hosts of our making.

# shellcheck disable=SC2031  # every test is a process
load ../helpers

setup() {
  REAL_DOCKER=$(type -P docker)
  host_of 2 24000
  # Where nothing of a lab that is up listens.
  export PROMETHEUS_PORT=1 GRAFANA_PORT=2 RESULTS_PORT=3
}

teardown() { [ -z "${holder:-}" ] || "$REAL_DOCKER" rm --force "$holder" >/dev/null; }

@test "a published port that another program holds is refused" {
  local port name
  holder=$("$REAL_DOCKER" run --detach --rm --init --publish 127.0.0.1::8000 loom-lab/tools timeout 300 python3 -m http.server 8000)
  port=$("$REAL_DOCKER" port "$holder" 8000)
  port=${port##*:}
  until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
    [ $SECONDS -lt 60 ] || { "$REAL_DOCKER" logs "$holder"; return 1; }
    sleep 0.1
  done
  for name in PROMETHEUS_PORT GRAFANA_PORT RESULTS_PORT; do
    run env CONCURRENCY=100 "$name=$port" "$LAB_ROOT/bin/run" run-ab
    refused 3 "$name=$port" "$name=$((port + 1))"
  done
}

@test "a container of the lab that has ended excuses no program that holds its port" {
  local port
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  # shellcheck source=bin/host.sh
  . "$LAB_ROOT/bin/host.sh"
  host_port_taken() { true; }
  stub docker 'case $* in *--all*) echo ended ;; esac'
  PROMETHEUS_PORT=9090 GRAFANA_PORT=3000 RESULTS_PORT=9080
  check_ports all
  run check_ports
  refused 3 PROMETHEUS_PORT=9090 "is taken"
}

@test "results that cannot be written are refused" {
  local copy=$BATS_TEST_TMPDIR/lab
  mkdir -p "$copy"
  cp -R "$LAB_ROOT/bin" "$LAB_ROOT/.env" "$copy/"
  echo "a file where the folder should be" >"$copy/results"
  LAB_RESULTS=$copy/results CONCURRENCY=100 run "$copy/bin/run" run-ab
  refused 3 "results/ cannot be written"
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
  # shellcheck source=bin/host.sh
  . "$copy/bin/host.sh"
  run check_checkout
  refused 3 "$copy/prometheus cannot be read" "chmod -R go+rX $copy"
  chmod -R go+rX "$copy"
  check_checkout
  TMPDIR=$copy/bin/lib.sh run check_checkout
  refused 3 "TMPDIR"
}

@test "loomlab is told what the user set, and nothing else" {
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  # shellcheck source=bin/variables.sh
  . "$LAB_ROOT/bin/variables.sh"
  # shellcheck disable=SC2329  # asked calls it
  loomlab() { printf '%s\n' "$@"; }
  CONCURRENCY='$(reboot) 5' DELAY=7 GC='' run asked plan ab
  [ "$output" = $'--env\nCONCURRENCY=$(reboot) 5\n--env\nDELAY=7\n--env\nPROMETHEUS_PORT=1\n--env\nGRAFANA_PORT=2\n--env\nRESULTS_PORT=3\n--\nplan\nab' ] ||
    { echo "$output"; return 1; }
}
