#!/usr/bin/env bats
# A scenario by its name, what it leaves, and what can be seen of a run while it goes.

load ../helpers

log="" lab=""

teardown() { stop_lab; }

# sees PROMQL: within 15 s Prometheus has a value above 0 for it.
sees() { settles '[.data.result[] | select((.value[1] | tonumber) > 0)] | length > 0' "$1" true; }

@test "a scenario runs scaled to the host, its figures are live under vegeta, its files are kept" {
  start_lab scenario NAME=10k-vus-and-rps-get-movies SCALE=0.005 APPROACH=tomcat-virtual DURATION=40s WARMUP_CAP=1s
  wait_for_line "measure [0-9]" 120
  sees 'lab_run_info{approach="tomcat-virtual",scenario="10k-vus-and-rps-get-movies",tool="vegeta"}'
  sees 'lab_run_phase{phase="measure"}'
  settles '.data.result[0].value[1]' 'lab_offered_rate_rps' 50
  sees 'histogram_quantile(0.99,sum(rate(request_seconds_bucket{status="200"}[5s]))by(le))'
  end_of_lab
  [ "$(run_of '.scenario.scale')" = 0.005 ]
  [ "$(run_of '.runs[0] | .rate == 50 and .errors == 0 and .started_rps > 45 and .latency_ms.p50 > 100')" = true ]
  local file
  for file in vegeta-load.json vegeta-report.json vegeta-requests.csv.gz; do
    [ -s "$(experiment_folder)/runs/1-tomcat-virtual/raw/$file" ] || { echo "no $file"; return 1; }
  done
}

@test "the published benchmarks are listed with the scenarios that run them" {
  run make -C "$LAB_ROOT" published
  [ "$status" -eq 0 ]
  [[ $output == *"loom-webflux-benchmarks"*"60k-vus-smooth-spike-get-post-movies"* ]]
}
