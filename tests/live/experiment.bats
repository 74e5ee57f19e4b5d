#!/usr/bin/env bats
# One real experiment over the headline approaches, and what it leaves; and the smallest sweep.

load ../helpers

log="" lab=""

teardown() { stop_lab; }

setup_file() {
  bats_require_minimum_version 1.5.0
  make -C "$BATS_TEST_DIRNAME/../.." run-ab CONCURRENCY=300 DURATION=12s WARMUP_CAP=12s >"$BATS_FILE_TMPDIR/log" 2>&1 ||
    went_well $? "$BATS_FILE_TMPDIR/log" || { cat "$BATS_FILE_TMPDIR/log" >&3; return 1; }
}

@test "there is one run per headline approach, none spoilt but by the host" {
  [ "$(run_of '[.runs[].approach] | sort | join(",")')" = tomcat-platform,tomcat-virtual,virtual-netty,webflux-netty ]
  only_the_host_spoilt
}

@test "a warm-up that its cap cuts short is told" {
  [ "$(run_of '[.runs[] | .warmup.capped and any(.rules[]; .rule == "half_cold" and .outcome == "failed")] | all')" = true ]
}

@test "no figure is missing" { no_figure_is_missing; }

@test "throughput and latency are those of three delays in succession" {
  [ "$(run_of '[.runs[] | .latency_ms.min >= 900] | all')" = true ]
  # In a span that is no multiple of a wave, one more of them may end.
  [ "$(run_of '[.runs[] | .throughput_rps <= 300 * (1 / 0.9 + 1 / .interior.seconds)] | all')" = true ]
  [ "$(run_of '[.runs[] | .throughput_rps * .latency_ms.mean / 1000 / 300 | . > 0.85 and . < 1.15] | all')" = true ]
}

@test "platform threads are counted per connection, and only there" {
  [ "$(run_of '.runs[] | select(.approach == "tomcat-platform") | .threads_max > 300')" = true ]
  [ "$(run_of '[.runs[] | select(.approach != "tomcat-platform" and .threads_max > 100)] | length')" -eq 0 ]
}

@test "every approach kept every connection alive" {
  [ "$(run_of '[.runs[] | select(.keepalive_requests != .requests)] | length')" -eq 0 ]
}

@test "the backend spends less than half of the approach's CPU on a request" {
  [ "$(run_of '[.runs[] | .backend_cpu_ms_per_request < .cpu_ms_per_request / 2] | all')" = true ]
}

@test "a sweep loads a pair in turn at each of its loads, and ends in a report over load" {
  local folder
  start_lab sweep CONCURRENCY=20,40 REPEATS=1 APPROACH=microhttp-virtual,microhttp-async DURATION=5s WARMUP_CAP=1s SIZE=smoke
  end_of_lab
  went_well "$status" "$log" || { cat "$log"; return 1; }
  folder=$(experiment_folder)
  grep -q "4 runs (microhttp-[a-z]*, microhttp-[a-z]*), about [0-9]* min" "$log" || { cat "$log"; return 1; }
  # A run that the host spoilt is made again, beside the first try.
  [ "$(json '[.runs[] | select(.run | endswith("-try-2") or endswith("-try-3") | not) | .request | [.load.connections, .approach]]
    | [.[:2], .[2:]] | map(sort) | tojson' "$folder/order.json")" = \
    '[[[20,"microhttp-async"],[20,"microhttp-virtual"]],[[40,"microhttp-async"],[40,"microhttp-virtual"]]]' ] ||
    { cat "$log"; return 1; }
  [ "$(run_of '[.runs[] | select(.throughput_rps > 0) | .run | sub("-try-[23]$"; "")] | unique | length')" -eq 4 ] || { cat "$log"; return 1; }
  [ "$(run_of '[.runs[] | .slices | length] | unique | tojson')" = '[4]' ]
  [ "$(run_of '[.runs[] | .partner_cpus < 0.05 and .little_ratio > 0.95] | all')" = true ]
  [ "$(run_of '.missing | length')" -eq 0 ]
  [ "$(run_of '.contrasts | length')" -eq 1 ]
  [ -s "$folder/report.html" ]
  [ -s "$folder/plots/cpu-per-request-over-load.svg" ]
  grep -q "^| 20 connections | microhttp-virtual |" "$folder/summary.md"
  grep -q "REPEATS=5 gives intervals" "$folder/summary.md"
  [ "$(readlink "$LAB_RESULTS/latest")" = "$(basename "$folder")" ]
}
