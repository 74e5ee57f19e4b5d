#!/usr/bin/env bats
# A sweep whose first run the host spoils: `make test-all PART=provocations`.

load ../helpers

log="" lab=""

teardown() { stop_lab; }

@test "a sweep makes a run again whose monitoring died, beside an approach's twin" {
  start_lab sweep CONCURRENCY=20,40 REPEATS=1 AA=1 DESIGN=alone TOOL=ab APPROACH=microhttp-virtual DURATION=10s WARMUP_CAP=1s SIZE=smoke
  wait_for_line "\[1/4 [a-z-]*\] measure [0-9]" 120
  docker kill "$(container_of prometheus)"
  end_of_lab
  grep -q "4 runs (microhttp-virtual), about [0-9]* min" "$log"
  grep -qE "^The host disturbed 1-microhttp-virtual(-twin)?, " "$log" || { cat "$log"; return 1; }
  [ "$(run_of '.runs | length')" -ge 5 ] || { cat "$log"; return 1; }
  [ "$(run_of '.runs[0].verdict')" = invalid ]
  fails 1 monitoring_gone
  [ "$(run_of '.runs[1].run == .runs[0].run + "-try-2" and .runs[1].verdict != "invalid"')" = true ]
  [ "$(run_of '[.runs[].approach] | unique | join(" ")')" = "microhttp-virtual microhttp-virtual-twin" ]
  [ "$(run_of '[.runs[].concurrency] | unique | join(" ")')" = "20 40" ]
  [ "$(run_of '.contrasts | map(.kind) | join(" ")')" = same ]
  [ "$(run_of '.environment.cpu_model != null and .environment.tool_versions.ab != null')" = true ]
  [ -s "$(experiment_folder)/plots/cpu-per-request-over-load.svg" ]
}
