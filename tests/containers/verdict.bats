#!/usr/bin/env bats
# Rules of the verdict, provoked for real; those on what happens in mid-run are in midrun.bats, more in tests/provocations/.

load ../helpers
load ../provoke

log="" lab=""

teardown() { stop_lab; }

@test "a generator squeezed to a twentieth of a CPU, and a run without a warm-up" {
  # shellcheck disable=SC2086  # one word a variable
  start_lab run-k6 $RUN CONCURRENCY=300
  provoke squeeze 0.05 generator
  judged invalid "The load generator limited the run: its CPU quota was" \
    "The load generator limited the run: it was throttled in" "There was no warm-up"
}

@test "a backend that fails one answer in five, and connections to it that end after each answer" {
  export KEEP_ALIVE_MS=1
  # shellcheck disable=SC2086
  start_lab $RUN APPROACH=webflux-netty DURATION=15s ERROR_SHARE=0.2
  judged invalid "of the requests failed or were not answered 2xx" "The backend answered" \
    "Backend connections were not kept" "Connections were reopened" "answers kept their connection open" \
    "waves of requests (at least"
}

@test "a rate that is kept on average by requests that start seconds late" {
  # shellcheck disable=SC2086
  start_lab run-vegeta $RUN RATE=100 CONCURRENCY=200 DURATION=30s
  wait_for_line "measure [2-4][0-9] %" 120 # amid what counts
  hold 4 backend
  judged invalid "vegeta started requests"
  [ "$(outcome_of rate_missed)" = passed ]
  [ "$(run_of '.runs[0] | .latency_ms.p90 > .latency_from_start_ms.p90 + 500')" = true ]
}

@test "a run without a record of what its CPUs did" {
  local run
  run=$(find "$(newest)/runs" -mindepth 1 -maxdepth 1 | head -n 1)
  rm "$run/raw/host.json"
  docker run --rm --network none --user "$(id -u):$(id -g)" --volume "$LAB_ROOT/results:/results" loom-lab/loadgen \
    judge "/results/${run#"$LAB_ROOT/results/"}" || [ $? -eq 1 ]
  for rule in generator_cpus generator_thread foreign_cpu stolen clock_stepped; do
    [ "$(json ".rules[] | select(.rule == \"$rule\") | .outcome" "$run/run.json")" = "could not be checked" ] || { echo "$rule"; return 1; }
  done
}
