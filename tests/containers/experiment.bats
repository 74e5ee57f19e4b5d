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

summary() { json "$1" "$LAB_ROOT/results/latest/summary.json"; }

@test "there is one run per headline approach, each with a verdict" {
  [ "$(summary '[.runs[].approach] | sort | join(",")')" = tomcat-platform,tomcat-virtual,virtual-netty,webflux-netty ]
  [ "$(summary '[.runs[].verdict | select(. == "valid" or . == "suspect" or . == "invalid")] | length')" -eq 4 ]
  only_the_host_spoilt
}

@test "a warm-up that its cap cuts short is told" {
  [ "$(summary '[.runs[].reasons | join(" ") | contains("The warm-up was cut short by its cap of 12 s")] | all')" = true ]
}

@test "no figure is missing" {
  local field
  for field in throughput_rps latency_ms.p50 latency_ms.p99 latency_ms.max cpu_seconds cpu_ms_per_request rss_max_bytes \
    vsz_max_bytes threads_max requests errors duration_s allocated_bytes_per_request live_bytes_per_request.heap; do
    [ "$(summary "[.runs[].$field | select(. == null)] | length")" -eq 0 ] || { echo "$field is null"; return 1; }
  done
}

@test "throughput and latency are those of three delays in succession" {
  [ "$(summary '[.runs[] | .latency_ms.min >= 900 and .latency_ms.min < 1200] | all')" = true ]
  # In a span that is no multiple of a wave, one more of them may end.
  [ "$(summary '[.runs[] | .latency_ms.p50 < 1800 and .throughput_rps <= 300 * (1 / 0.9 + 1 / .interior.seconds)] | all')" = true ]
  [ "$(summary '[.runs[] | .throughput_rps * .latency_ms.mean / 1000 / 300 | . > 0.85 and . < 1.15] | all')" = true ]
}

@test "platform threads are counted per connection, and only there" {
  [ "$(summary '.runs[] | select(.approach == "tomcat-platform") | .threads_max > 300')" = true ]
  [ "$(summary '[.runs[] | select(.approach != "tomcat-platform" and .threads_max > 100)] | length')" -eq 0 ]
}

@test "every approach kept every connection alive" {
  [ "$(summary '[.runs[] | select(.keepalive_requests != .requests)] | length')" -eq 0 ]
}

@test "each run keeps the tool's raw output, and its verdict can be given again from the files" {
  local run
  for run in "$LAB_ROOT"/results/latest/runs/*; do
    grep -q "Complete requests" "$run/raw/ab.txt"
    [ -s "$run/raw/ab-requests.tsv.gz" ] && [ -s "$run/raw/metrics.json" ] && [ -s "$run/raw/container.json" ]
    [ "$(json '[.samples[].tool_threads[]] | max > 0' "$run/raw/host.json")" = true ]
  done
  cp -R "$LAB_ROOT/results/latest/" "$BATS_TEST_TMPDIR/copy"
  run docker run --rm --user "$(id -u):$(id -g)" --volume "$BATS_TEST_TMPDIR/copy:/results/copy" --network none loom-lab/loadgen \
    judge "/results/copy/runs/$(basename "$run")"
  [ "$status" -eq "$([ "$(json .verdict "$run/run.json")" = invalid ] && echo 1 || echo 0)" ]
  cmp "$BATS_TEST_TMPDIR/copy/runs/$(basename "$run")/run.json" "$run/run.json"
}

@test "the experiment ends in a report, which make report makes again with the same bytes" {
  local folder
  folder=$(cd "$LAB_ROOT/results/latest" && pwd -P)
  cp "$folder/report.html" "$BATS_TEST_TMPDIR/first"
  "$LAB_ROOT/bin/report"
  cmp "$folder/report.html" "$BATS_TEST_TMPDIR/first"
  RESUME=$(basename "$folder") "$LAB_ROOT/bin/report"
  cmp "$folder/report.html" "$BATS_TEST_TMPDIR/first"
  grep -q "^| .*CPU per request, ms" "$folder/summary.md"
}

@test "the environment tells the base images apart" {
  local expected=false
  [ ! -e "$LAB_ROOT/compose.stand-ins.yaml" ] || expected=true
  [ "$(summary .environment.stand_in_images)" = "$expected" ]
}

@test "the backend spends less than half of the approach's CPU on a request" {
  [ "$(summary '[.runs[] | .backend_cpu_ms_per_request < .cpu_ms_per_request / 2] | all')" = true ]
}

@test "nothing of the experiment is left running" {
  [ -z "$(lab_containers)" ]
}

# The last one: results/latest is another experiment after it.
@test "a sweep measures every approach at each of its loads, block by block, and ends in a report over load" {
  local folder
  start_lab sweep CONCURRENCY=20,40 REPEATS=1 APPROACH=microhttp-virtual,microhttp-async DURATION=5s WARMUP_CAP=1s SIZE=smoke
  end_of_lab
  went_well "$status" "$log" || { cat "$log"; return 1; }
  folder=$(newest)
  grep -q "4 runs (microhttp-[a-z]*, microhttp-[a-z]*), about [0-9]* min" "$log" || { cat "$log"; return 1; }
  # A run that the host spoilt is made again, beside the first try.
  [ "$(json '[.runs[] | select(.run | endswith("-try-2") or endswith("-try-3") | not) | .request | [.load.connections, .approach]]
    | [.[:2], .[2:]] | map(sort) | tojson' "$folder/order.json")" = \
    '[[[20,"microhttp-async"],[20,"microhttp-virtual"]],[[40,"microhttp-async"],[40,"microhttp-virtual"]]]' ] ||
    { cat "$log"; return 1; }
  [ "$(run_of '[.runs[] | select(.throughput_rps > 0) | .run | sub("-try-[23]$"; "")] | unique | length')" -eq 4 ] || { cat "$log"; return 1; }
  [ "$(run_of '.missing | length')" -eq 0 ]
  [ "$(run_of '.contrasts | length')" -eq 1 ]
  [ -s "$folder/report.html" ] && [ -s "$folder/plots/cpu-per-request-over-load.svg" ]
  grep -q "^| 20 connections | microhttp-virtual |" "$folder/summary.md"
  grep -q "REPEATS=5 gives intervals" "$folder/summary.md"
  [ "$(readlink "$LAB_ROOT/results/latest")" = "$(basename "$folder")" ]
}
