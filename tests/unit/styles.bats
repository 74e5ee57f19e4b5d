#!/usr/bin/env bats
# Which runs of benchmarks/style.jsonl count, and what its table makes of them: tests/benchmarks/styles.sh, without a run.

# shellcheck disable=SC2030,SC2031,SC2034,SC2329  # every test is a process, and styles.sh asks what is here
load ../helpers

setup() {
  . "$LAB_ROOT/bin/lib.sh"
  . "$LAB_ROOT/tests/benchmarks/lib.sh"
  jq() { command docker exec --interactive "$LAB_JQ" jq "$@"; }
  . "$LAB_ROOT/tests/benchmarks/styles.sh"
  LINES_FILE=$BATS_TEST_TMPDIR/style.jsonl SERIES=1
  : >"$LINES_FILE"
  approaches() { printf '%s\n' a b; }
}

# ran APPROACH STYLE ROUND CPU_MS [CHANGES]: appends such a run.
ran() {
  jq --null-input --compact-output --arg approach "$1" --arg style "$2" --argjson round "$3" --argjson cpu "$4" '
    {series: "1", round: $round, concurrency: 1000, style: $style, approach: $approach, verdict: "valid", reasons: [], told: [],
      cpu_ms_per_request: $cpu} + '"${5:-{\}}" >>"$LINES_FILE"
}

@test "a run counts for its own series, round, load, style and approach, unless it is invalid or others took its CPU" {
  local changes
  for changes in '{series: "2"}' '{round: 2}' '{concurrency: 2000}' '{style: "idiomatic"}' '{approach: "b"}' '{verdict: "invalid"}' \
    '{cpu_ms_per_request: null}' '{told: ["stolen"]}' '{told: ["much_stolen"]}' '{told: ["half_cold", "foreign_cpu"]}' \
    '{told: ["much_foreign_cpu"]}'; do
    : >"$LINES_FILE"
    ran a lean 1 0.2 "$changes"
    [[ $(missing 1 1000 lean) == a* ]] || { echo "it counts with $changes"; return 1; }
  done
  : >"$LINES_FILE"
  ran a lean 1 0.2 '{verdict: "suspect", told: ["half_cold"]}'
  [ "$(missing 1 1000 lean)" = b ]
}

@test "the table compares styles within a round, whatever the order of the runs, and leaves out a round that lacks one of them" {
  ran b idiomatic 1 0.6
  ran b lean 1 0.2
  ran a lean 2 0.2
  ran a idiomatic 1 0.2
  ran a lean 1 0.1
  ran a idiomatic 2 0.8
  ran a idiomatic 3 9
  ran a lean 3 1 '{series: "2"}'
  ran b lean 2 0.4 '{verdict: "invalid", reasons: ["Something {failed}."]}'
  run table
  [ "${lines[0]}" = "8 runs, 7 of them counted; CPU ms per request, ratios within rounds" ]
  [ "${lines[1]}" = "1000 connections" ]
  [ "${lines[2]}" = "  a: lean 0.15, idiomatic 0.8 (medians); idiomatic ÷ lean 2.828 (rounds: 2)" ]
  [ "${lines[3]}" = "  b: lean 0.2, idiomatic 0.6 (medians); idiomatic ÷ lean 3.000 (rounds: 1)" ]
  [ "${lines[4]}" = "  b ÷ a: lean 2.000, idiomatic 3.000, the second ÷ the first 1.500 (rounds: 1)" ]
  [ "${lines[5]}" = "  1000, round 2, lean, b, left out: invalid: Something failed." ]
  [ "${#lines[@]}" -eq 6 ]
}
