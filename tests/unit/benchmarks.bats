#!/usr/bin/env bats
# Which runs of benchmarks/cost.jsonl count for a question, and what its table makes of them: tests/benchmarks/protocol.sh, without a run.

# shellcheck disable=SC2030,SC2031,SC2034,SC2329  # every test is a process, and protocol.sh asks what is here
load ../helpers

setup() {
  . "$LAB_ROOT/bin/lib.sh"
  . "$LAB_ROOT/tests/benchmarks/lib.sh"
  jq() { kept_jq "$@"; }
  . "$LAB_ROOT/tests/benchmarks/protocol.sh"
  LINES_FILE=$BATS_TEST_TMPDIR/cost.jsonl SERIES=1 WHAT=pools UNDER=tomcat-virtual CONNECTIONS=1000
  : >"$LINES_FILE"
}

# ran CONTENDER ROUND CPU_MS [CHANGES]: appends such a run.
ran() {
  jq --null-input --compact-output --arg contender "$1" --argjson round "$2" --argjson cpu "$3" '
    {series: "1", what: "pools", under: "tomcat-virtual", connections: 1000, contender: $contender, round: $round,
      complete: 40000, failed: 400, cpu_ms_per_request: $cpu, steal_share: 0.05, foreign_share: 0.2}
    + '"${4:-{\}}" >>"$LINES_FILE"
}

@test "a run counts for its own question, contender and round, unless requests failed or others took its CPU" {
  local changes
  for changes in '{series: "2"}' '{what: "loops"}' '{under: "webflux-netty"}' '{connections: 500}' '{contender: "b"}' \
    '{round: 2}' '{failed: 401}' '{steal_share: 0.051}' '{foreign_share: 0.21}'; do
    ran a 1 0.2 "$changes"
    missing a 1 || { echo "it counts with $changes"; return 1; }
  done
  ran a 1 0.2
  run missing a 1
  [ "$status" -eq 1 ]
}

@test "a line that does not tell what other programs took counts" {
  ran a 1 0.2 '{foreign_share: null}'
  run missing a 1
  [ "$status" -eq 1 ]
}

@test "the table compares runs of one round, whatever their order, and leaves out a round that one of them lacks" {
  ran b 3 0.9
  ran a 1 0.1
  ran b 2 0.4
  ran a 2 0.2
  ran b 1 0.2
  ran a 4 0.3
  ran a 5 0.4 '{steal_share: 0.1}'
  run table a b c
  [ "${lines[0]}" = "a: 0.1, 0.2, 0.3 ms per request, median 0.2, 1.000 [1.000, 1.000] of a" ]
  [ "${lines[1]}" = "b: 0.2, 0.4, 0.9 ms per request, median 0.4, 2.000 of a" ]
  [ "${#lines[@]}" -eq 2 ]
}

@test "a file that cannot be read is told, and no round is taken for made" {
  echo '{' >"$LINES_FILE"
  run missing a 1
  [ "$status" -eq 3 ]
  [[ $output == *"$LINES_FILE could not be read"* ]]
}

@test "the median of two runs is their mean" {
  ran a 1 0.1
  ran a 2 0.3
  run table a
  [[ $output == "a: 0.1, 0.3 ms per request, median 0.2, "* ]]
}

@test "of the CPU under test all time, stolen time, idle time and the time of interrupts are counted in seconds" {
  docker() {
    case $1 in
      exec) printf '%s\n' 1500000000 "100 20 30 4000 50 6 7 80 9 1" ;;
      *) command docker "$@" ;;
    esac
  }
  [ "$(spent)" = "[1.5,42.93,0.8,40.5,0.13]" ]
}
