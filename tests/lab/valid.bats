#!/usr/bin/env bats
# A run of the default shape, as a user makes it, is valid, and what it leaves is whole. A try of which others took CPU time, and which
# nothing else spoilt, is made again; three of them decide nothing. STRICT=1: it is valid, or the test fails.

load ../helpers

MOST_TRIES=3
TAKEN='["stolen", "much_stolen", "foreign_cpu", "much_foreign_cpu", "generator_wait_mean", "generator_wait_p99"]'

MUCH=0.2 # of the host's CPU time; then CPUs that the lab shares with others are full, too

# outcome: of the run: valid, taken (by others, and nothing else) or wrong. What others took is counted from the samples of the CPUs
# and what the lab's containers used, whatever the verdict says.
outcome() {
  local folder
  folder=$(experiment_folder) || return
  cat "$folder/summary.json" "$folder"/runs/*/raw/host.json | docker exec --interactive "$LAB_JQ" jq --raw-output --slurp '
    .[0].runs[0] as $run | (.[1].samples | [first.cpus, last.cpus]) as [$before, $after]
    | [$before | keys[] as $cpu | [range(8) | $after[$cpu][.] - $before[$cpu][.]] | 1 - (.[3] + .[4] + .[7]) / add] as $busy
    | ($run | .throughput_rps * (.cpu_ms_per_request + .backend_cpu_ms_per_request + .generator_cpu_ms_per_request) / 1000) as $own
    | [$run.rules[] | select(.outcome == "failed" or .outcome == "could not be checked").rule]
    | if . == [] then "valid"
      elif . - '"$TAKEN"' - (if (($busy | add) - $own) / ($busy | length) > '$MUCH' then ["generator_cpus", "backend_cpus"] else [] end) == []
      then "taken" else "wrong" end'
}

setup_file() {
  local try outcome=taken most=$MOST_TRIES
  [ -z "${STRICT:-}" ] || most=1
  log=$BATS_FILE_TMPDIR/log
  for ((try = 1; try <= most; try++)); do
    make -C "$LAB_ROOT" run-ab CONCURRENCY=100 APPROACH=microhttp-async >"$log" 2>&1 || true
    outcome=$(outcome) || { cat "$log" >&3; return 1; }
    echo "# try $try: $(run_of '.runs[0] | [.verdict] + .reasons | join(" ")')" >&3
    [ "$outcome" = taken ] || break
  done
  echo "$outcome" >"$BATS_FILE_TMPDIR/outcome"
}

@test "a run of the default shape is valid" {
  case $(cat "$BATS_FILE_TMPDIR/outcome") in
    valid) [ "$(run_of '.runs[0].verdict')" = valid ] ;;
    taken) [ -z "${STRICT:-}" ] && echo "# not decided: others took CPU time in every try" >&3 ;;
    *) run_of '.runs[0].reasons' && false ;;
  esac
}

@test "the run had its warm-up, and lasted as long as its waves need" {
  [ "$(run_of '.runs[0].warmup | .bursts > 0 and .duration_s > 0')" = true ]
  [ "$(run_of '.runs[0] | .waves >= 20 and .interior.seconds >= 15 and .load.shape.duration_s == 35')" = true ] || { run_of '.runs[0]'; return 1; }
}

@test "no figure is missing" {
  local field
  for field in throughput_rps latency_ms.p50 latency_ms.p99 latency_ms.max cpu_seconds cpu_ms_per_request rss_max_bytes \
    vsz_max_bytes threads_max requests errors duration_s allocated_bytes_per_request live_bytes_per_request.heap; do
    [ "$(run_of ".runs[0].$field != null")" = true ] || { echo "$field is null"; return 1; }
  done
}

@test "a request takes three delays in succession, and every connection is kept" {
  [ "$(run_of '.runs[0].latency_ms.min >= 900')" = true ]
  [ "$(run_of '.runs[0] | .throughput_rps * .latency_ms.mean / 1000 / 100 | . > 0.85 and . < 1.15')" = true ]
  [ "$(run_of '.runs[0] | .errors == 0 and .keepalive_requests == .requests')" = true ]
}

@test "the tool's raw output is kept, and the verdict can be given again from the files" {
  local run
  run=$(experiment_folder)/runs/1-microhttp-async
  grep -q "Complete requests" "$run/raw/ab.txt"
  [ -s "$run/raw/ab-requests.tsv.gz" ]
  [ -s "$run/raw/metrics.json" ]
  [ -s "$run/raw/container.json" ]
  [ "$(json '[.samples[].tool_threads[]] | max > 0' "$run/raw/host.json")" = true ]
  cp -R "$run" "$BATS_TEST_TMPDIR/1-microhttp-async"
  rm "$BATS_TEST_TMPDIR/1-microhttp-async/run.json"
  docker run --rm --user "$(id -u):$(id -g)" --volume "$BATS_TEST_TMPDIR:/copy" --network none loom-lab/loadgen \
    judge /copy/1-microhttp-async || [ $? -eq 1 ]
  cmp "$BATS_TEST_TMPDIR/1-microhttp-async/run.json" "$run/run.json"
}

@test "the experiment ends in a report, which make report makes again with the same bytes" {
  local folder
  folder=$(experiment_folder)
  cp "$folder/report.html" "$BATS_TEST_TMPDIR/first"
  make -C "$LAB_ROOT" report
  cmp "$folder/report.html" "$BATS_TEST_TMPDIR/first"
  grep -q "^| .*CPU per request, ms" "$folder/summary.md"
}

@test "the environment tells the base images apart" {
  local expected=false
  [ ! -e "$LAB_ROOT/compose.stand-ins.yaml" ] || expected=true
  [ "$(run_of .environment.stand_in_images)" = "$expected" ]
}

@test "nothing of the experiment is left running" {
  [ -z "$(lab_containers)" ]
}
