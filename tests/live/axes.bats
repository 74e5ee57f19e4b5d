#!/usr/bin/env bats
# A run away from every other axis' default, and one in the other style under hey.

load ../helpers

log="" lab=""

teardown() { stop_lab; }

@test "JDK, collector and client are those asked for" {
  start_lab APPROACH=microhttp-virtual JDK=21 GC=zgc HTTP_CLIENT=jdk CONCURRENCY=50 DURATION=8s WARMUP_CAP=1s SIZE=smoke
  end_of_lab
  went_well "$status" "$log" || { cat "$log"; return 1; }
  [ "$(run_of '[.runs[] | [.approach, .jdk, .gc_name, .http_client] | join(" ")] | join(", ")')" = "microhttp-virtual 21 zgc jdk" ]
  # Of the generations only a generational ZGC has names for them.
  [ "$(json '[(.jvm.version | startswith("21.")), .jvm.gc_beans, .outbound.client] | tojson' "$(experiment_folder)"/runs/*/raw/about.json)" = \
    '[true,["ZGC Minor Cycles","ZGC Minor Pauses","ZGC Major Cycles","ZGC Major Pauses"],"jdk-httpclient"]' ]
}

@test "the style is the one asked for; hey's own report and requests are kept, of two of them, and judged like those of the others" {
  start_lab run-hey APPROACH=webflux-netty STYLE=idiomatic CONCURRENCY=50 GENERATORS=2 DURATION=8s WARMUP_CAP=1s SIZE=smoke
  end_of_lab
  went_well "$status" "$log" || { cat "$log"; return 1; }
  [ "$(run_of '.runs[0] | .errors == 0 and .requests > 100 and .latency_ms.min >= 900')" = true ]
  [ "$(run_of '.runs[0].style')" = idiomatic ]
  [ "$(json .style "$(experiment_folder)"/runs/*/raw/about.json)" = idiomatic ]
  [ -s "$(experiment_folder)/runs/1-webflux-netty/raw/hey.txt" ]
  [ -s "$(experiment_folder)/runs/1-webflux-netty/raw/hey-requests.csv.gz" ]
  [ -s "$(experiment_folder)/runs/1-webflux-netty/raw/generator-2/hey-requests.csv.gz" ]
  [ "$(run_of '.runs[0] | .generators == 2 and .connections_opened >= 50')" = true ]
}
