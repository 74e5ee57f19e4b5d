#!/usr/bin/env bats
# A scenario by its name, what it leaves, and what can be seen of a run while it goes.

load ../helpers

log="" lab=""

teardown() { stop_lab; }

# sees PROMQL: Prometheus has a value above 0 for it.
sees() { settles '[.data.result[] | select((.value[1] | tonumber) > 0)] | length > 0' "$1" true; }

@test "a scenario runs scaled to the host, its figures are live under k6, and its summary has both sets of parameters" {
  start_lab scenario NAME=10k-vus-and-rps-get-movies SCALE=0.005 APPROACH=tomcat-virtual DURATION=16s WARMUP_CAP=1s
  wait_for_line "measure [0-9]" 120
  sees 'lab_run_info{approach="tomcat-virtual",scenario="10k-vus-and-rps-get-movies",tool="k6"}'
  sees 'lab_run_phase{phase="measure"}'
  settles '.data.result[0].value[1]' 'lab_offered_rate_rps' 50
  sees 'rate(k6_http_reqs_total{status="200"}[5s])'
  sees 'histogram_quantile(0.99,sum(rate(k6_http_req_duration_seconds[5s])))'
  end_of_lab
  [ "$(run_of '.scenario.scale')" = 0.005 ]
  [ "$(run_of '.scenario.parameters[] | select(.name == "connections") | .published + " " + .here')" = "10,000 50" ]
  [ "$(run_of '.runs[0] | .rate == 50 and .errors == 0 and .started_rps > 45 and .latency_ms.p50 > 100')" = true ]
  grep -q "| offered rate, requests/s | 10,000 | 50 |" "$(newest)/summary.md"
  [ -s "$(newest)/runs/1-tomcat-virtual/raw/latency.hlog" ]
}

@test "vegeta's own figures are live, and its results, reports and plot are kept" {
  start_lab run-vegeta RATE=50 DURATION=12s WARMUP_CAP=1s APPROACH=tomcat-virtual ENDPOINT=/epoch-millis DELAY=100
  wait_for_line "measure [0-9]" 120
  sees 'histogram_quantile(0.99,sum(rate(request_seconds_bucket{status="200"}[5s]))by(le))'
  end_of_lab
  local file
  for file in vegeta.bin.gz vegeta-report.json vegeta-report.txt vegeta-plot.html vegeta-requests.csv.gz latency.hlog; do
    [ -s "$(newest)/runs/1-tomcat-virtual/raw/$file" ] || { echo "no $file"; return 1; }
  done
}

@test "a scenario file with a mistake is refused by file, line and field before any approach starts" {
  local broken=$LAB_ROOT/loadgen/scenarios/broken.yaml
  sed 's#rate: 5/s#rate: -5/s#' "$LAB_ROOT/loadgen/scenarios/smoketest.yaml" >"$broken"
  run make -C "$LAB_ROOT" scenario NAME=broken
  rm "$broken"
  [ "$status" -eq 2 ]
  [[ $output == *"broken.yaml, line "*", load.rate"*"-5/s"*"such as 500/s"* ]]
  [ -z "$(lab_containers)" ]
}

@test "the papers are listed with the scenarios that run them" {
  run make -C "$LAB_ROOT" papers
  [ "$status" -eq 0 ]
  [[ $output == *"loom-webflux-benchmarks"*"Chris Gleissner"*"2024"*"60k-vus-smooth-spike-get-post-movies"* ]]
  [[ $output == *"virtual-threads-hey"*"not named"*"2023"* ]]
}

@test "an experiment of another paper, and what a paper says itself, are refused before anything runs" {
  local folder
  folder=$(basename "$(printf '%s\n' "$LAB_ROOT"/results/*-10k-vus-and-rps-get-movies | tail -n 1)")
  run make -C "$LAB_ROOT" reproduce PAPER=spring-boot-edition RESUME="$folder"
  [ "$status" -eq 2 ]
  [[ $output == *"RESUME=$folder is of the paper loom-webflux-benchmarks, not of spring-boot-edition: use PAPER=loom-webflux-benchmarks."* ]]
  run make -C "$LAB_ROOT" reproduce PAPER=spring-boot-edition APPROACH=tomcat-virtual
  [ "$status" -eq 2 ]
  [[ $output == *"APPROACH=tomcat-virtual does not go with PAPER=spring-boot-edition"* ]]
  [ -z "$(lab_containers)" ]
}
