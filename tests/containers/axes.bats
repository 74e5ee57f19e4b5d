#!/usr/bin/env bats
# A run away from every axis' default, and one under hey.

load ../helpers

log="" lab=""

teardown() { stop_lab; }

@test "JDK, collector, client and repeats are those asked for" {
  start_lab APPROACH=microhttp-virtual JDK=21 GC=zgc HTTP_CLIENT=jdk REPEATS=2 CONCURRENCY=50 DURATION=8s WARMUP_CAP=1s SIZE=smoke
  end_of_lab
  [ "$status" -eq 0 ] || { cat "$log"; return 1; }
  [ "$(run_of '[.runs[] | [.approach, .jdk, .gc_name, .http_client, .repeat] | join(" ")] | join(", ")')" = \
    "microhttp-virtual 21 zgc jdk 1, microhttp-virtual 21 zgc jdk 2" ]
  local run
  for run in "$(newest)"/runs/*; do
    [ "$(json '[(.jvm.version | startswith("21.")), (.jvm.gc_beans | length > 0 and all(startswith("ZGC"))), .outbound.client] | tojson' \
      "$run/raw/about.json")" = '[true,true,"jdk-httpclient"]' ]
  done
}

@test "hey's own report and requests are kept, and judged like those of the others" {
  start_lab run-hey APPROACH=helidon-virtual CONCURRENCY=50 DURATION=8s WARMUP_CAP=1s SIZE=smoke
  end_of_lab
  [ "$status" -eq 0 ] || { cat "$log"; return 1; }
  [ "$(run_of '.runs[0] | .verdict != "invalid" and .errors == 0 and .requests > 100 and .latency_ms.min >= 900')" = true ]
  [ -s "$(newest)/runs/1-helidon-virtual/raw/hey.txt" ]
  [ -s "$(newest)/runs/1-helidon-virtual/raw/latency.hlog" ]
}
