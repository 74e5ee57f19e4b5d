#!/usr/bin/env bats
# What the host is asked before anything starts, on hosts of our making.

load ../helpers

setup() {
  REAL_DOCKER=$(type -P docker)
  host_of 2 24000
  # Where nothing of a lab that is up listens.
  export PROMETHEUS_PORT=1 GRAFANA_PORT=2 RESULTS_PORT=3
}

@test "a published port that another program holds is refused" {
  local holder port name
  holder=$("$REAL_DOCKER" run --detach --rm --publish 127.0.0.1::8000 loom-lab/tools python3 -m http.server 8000)
  port=$("$REAL_DOCKER" port "$holder" 8000)
  port=${port##*:}
  until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
  for name in PROMETHEUS_PORT GRAFANA_PORT RESULTS_PORT; do
    run env CONCURRENCY=100 "$name=$port" "$LAB_ROOT/bin/run" ab
    refused 3 "$name=$port" "$name=$((port + 1))" || break
  done
  "$REAL_DOCKER" rm --force "$holder" >/dev/null
  refused 3 "$name=$port" "$name=$((port + 1))"
}

@test "results that cannot be written are refused" {
  local copy=$BATS_TEST_TMPDIR/lab
  mkdir -p "$copy/loadgen/src/loomlab/plan"
  cp -R "$LAB_ROOT/bin" "$LAB_ROOT/sizes" "$LAB_ROOT/.env" "$copy/"
  cp -R "$LAB_ROOT/loadgen/scenarios" "$copy/loadgen/"
  cp "$LAB_ROOT/loadgen/src/loomlab/plan/variables.txt" "$copy/loadgen/src/loomlab/plan/"
  echo "a file where the folder should be" >"$copy/results"
  CONCURRENCY=100 run "$copy/bin/run" ab
  refused 3 "results/ cannot be written"
}

@test "loomlab is told what the host has, and what the user set" {
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  # shellcheck source=bin/host.sh
  . "$LAB_ROOT/bin/host.sh"
  # shellcheck source=bin/variables.sh
  . "$LAB_ROOT/bin/variables.sh"
  stub df 'printf "Filesystem 1024-blocks Used Available Capacity Mounted\n/dev/x 100 88 12288 88%% /\n"'
  run host_options
  [ "$(printf '%s\n' "${lines[@]}" | grep -v -- --env | paste -sd' ' -)" = \
    "HOST_CPUS=2 HOST_MEMORY_MB=24000 HOST_OPEN_FILES=20000 HOST_CPU_ORDER=0 1 HOST_FREE_MB=12" ]
  CONCURRENCY='$(reboot) 5' DELAY=7 run asked_options
  [[ $output == *$'--env\nCONCURRENCY=$(reboot) 5\n--env\nDELAY=7\n--env\nPROMETHEUS_PORT=1'* ]]
}
