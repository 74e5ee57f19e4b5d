#!/usr/bin/env bats
# How much a process holds, and kinds of request under a limit.

load ../helpers

log="" lab=""

teardown() { stop_lab; }

@test "a process is searched for its capacity, and then loaded at shares of it" {
  start_lab capacity "SLO=p99<1500ms,errors<1%" DELAY=uniform:200:400 APPROACH=microhttp-virtual "ENDPOINT=/capabilities?cpuMicros=2000" REPEATS=1 DURATION=6s \
    WARMUP_CAP=20s SIZE=smoke
  end_of_lab
  [ "$(run_of '[.runs[].capacity_share] | map(. * 100 | round) | sort | tojson')" = "[50,80,100,110]" ] || { cat "$log"; return 1; }
  [ "$(run_of '.runs[] | select(.capacity) | .capacity | .rps > 50 and .rps < 500 and .failed_rps > .rps and (.failed_rps / .rps < 1.03)')" = true ] ||
    { cat "$log"; return 1; }
  [ "$(run_of '.runs[] | select(.capacity) | .capacity.failed_cpu_share | . > 0.4 and . < 1.1')" = true ] || { cat "$log"; return 1; }
  [ "$(run_of '(.runs[] | select(.capacity) | .capacity.rps) as $rps | .runs[] | select(.capacity_share == 0.5) | .rate / $rps | . > 0.49 and . < 0.51')" = true ]
  grep -q "microhttp-virtual holds [0-9,]* requests/s with p99 < 1,500 ms and errors < 1 %" "$log"
}

@test "kinds of request have figures of their own, and a limit makes requests wait" {
  printf 'requests:\n  - {get: /capabilities, weight: 3}\n  - {get: "/capabilities?cpuMicros=5000"}\n' >"$BATS_TEST_TMPDIR/mix.yaml"
  start_lab run-users APPROACH=tomcat-virtual REQUESTS_FILE="$BATS_TEST_TMPDIR/mix.yaml" LIMIT=10 CONCURRENCY=20 DURATION=12s \
    WARMUP_CAP=1s SIZE=smoke
  end_of_lab
  [ "$(run_of '.runs[0].kinds | [.[].request] | tojson')" = '["GET /capabilities","GET /capabilities?cpuMicros=5000"]' ] ||
    { cat "$log"; return 1; }
  [ "$(run_of '.runs[0].kinds | (.[0].requests / .[1].requests) | . > 2.5 and . < 3.5')" = true ]
  # Twice as many as are served wait twice as long.
  [ "$(run_of '.runs[0].latency_ms.p50 > 1500')" = true ] || { cat "$log"; return 1; }
}
