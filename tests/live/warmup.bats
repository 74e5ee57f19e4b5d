#!/usr/bin/env bats
# A warm-up that comes to its own end, and what the dashboards make of it. Its cap leaves time for a slow host.

load ../helpers
load ../observability

# Waves of 0.3 s: of longer ones the panels' windows of 10 s hold a wave more or less.
setup_file() {
  (cd "$LAB_ROOT" && docker compose up --detach --wait prometheus cadvisor backend results) >"$BATS_FILE_TMPDIR/log" 2>&1 ||
    { cat "$BATS_FILE_TMPDIR/log" >&3; return 1; }
  make -C "$BATS_TEST_DIRNAME/../.." run-ab CONCURRENCY=200 DELAY=100 WARMUP_CAP=300s APPROACH=microhttp-async >"$BATS_FILE_TMPDIR/log" 2>&1 ||
    went_well $? "$BATS_FILE_TMPDIR/log" || { cat "$BATS_FILE_TMPDIR/log" >&3; return 1; }
}

teardown_file() { make -C "$LAB_ROOT" down >/dev/null 2>&1; }

run_dir() { echo "$(experiment_folder)/runs/1-microhttp-async"; }
warmup() { json "$1" "$(run_dir)/raw/warmup.json"; }

@test "the compilers come to rest, the load settles, and the warm-up ends before its cap" {
  [ "$(warmup '[.compiled, .changing, .failed] | tojson')" = '[true,null,false]' ]
  [ "$(warmup '.duration_s < .cap_s')" = true ]
  [ "$(warmup '[.bursts[].phase] | unique | join(" ")')" = "compile settle" ]
  [ "$(warmup '[.bursts[] | select(.phase == "compile") | .requests] | add >= 20000')" = true ]
}

@test "the compilers' phase waits as it must, the other one as it was asked to" {
  [ "$(warmup '[.bursts[] | select(.phase == "settle") | .wait_ms] | unique | tojson')" = '[300]' ]
  [ "$(warmup '[.bursts[] | select(.phase == "compile") | .wait_ms != 300] | any')" = true ]
  [ "$(json '[.before, .after] | tojson' "$(run_dir)/raw/backend.json")" = '["100","100"]' ]
}

@test "a run lasts as long as its waves need, and no longer" {
  [ "$(json '.load.shape.duration_s == 35 and .waves >= 20 and .interior.seconds >= 15' "$(run_dir)/run.json")" = true ]
}

@test "a warm approach adds little to the delays, unless others spoil the run" {
  [ "$(json '.verdict == "invalid" or (.latency_ms.p50 <= 350 and .throughput_rps >= 520)' "$(run_dir)/run.json")" = true ]
}

@test "what an approach waits for the backend's warm-up is not its own start" {
  [ "$(json '.start_s > 0 and .waited_s > 0' "$(run_dir)/run.json")" = true ]
}

@test "the plan has told how long it takes" {
  grep -qE "1 runs \(microhttp-async\), about [0-9]+ min, [0-9]+ at most" "$BATS_FILE_TMPDIR/log"
}

@test "Compare leaves the warm-up out: its legends and its table say what the summary says" {
  local experiment
  experiment=$(basename "$(experiment_folder)")
  settles '[.data.result[].metric.run] | join(" ")' "lab_result_info{experiment=\"$experiment\"}" 1-microhttp-async
  in_dashboards python -m loomlab_dashboards queries compare --set "experiment=$experiment" >"$BATS_FILE_TMPDIR/queries"
  told live/test_measured_phase.py
}
