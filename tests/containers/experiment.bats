#!/usr/bin/env bats
# One real experiment over the headline approaches, and what it leaves.

load ../helpers

setup_file() {
  bats_require_minimum_version 1.5.0
  make -C "$BATS_TEST_DIRNAME/../.." run-ab CONCURRENCY=300 DURATION=12s WARMUP_CAP=12s >"$BATS_FILE_TMPDIR/log" 2>&1 ||
    { cat "$BATS_FILE_TMPDIR/log" >&3; return 1; }
}

summary() { json "$1" "$LAB_ROOT/results/latest/summary.json"; }

@test "there is one run per headline approach, each with a verdict" {
  [ "$(summary '[.runs[].approach] | sort | join(",")')" = tomcat-platform,tomcat-virtual,virtual-netty,webflux-netty ]
  [ "$(summary '[.runs[].verdict | select(. == "valid" or . == "suspect")] | length')" -eq 4 ]
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
  [ "$(summary '[.runs[] | .throughput_rps * .latency_ms.mean / 1000 / 300 | . > 0.9 and . < 1.1] | all')" = true ]
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
  [ "$status" -eq 0 ]
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
  [ ! -e "$LAB_ROOT/compose.override.yaml" ] || expected=true
  [ "$(summary .environment.stand_in_images)" = "$expected" ]
}

@test "the backend spends less than half of the approach's CPU on a request" {
  [ "$(summary '[.runs[] | .backend_cpu_ms_per_request < .cpu_ms_per_request / 2] | all')" = true ]
}

@test "nothing of the experiment is left running" {
  [ -z "$(lab_containers)" ]
}
