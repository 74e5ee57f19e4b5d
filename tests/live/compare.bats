#!/usr/bin/env bats
# Two settings of an approach, and services that are not the lab's.

# shellcheck disable=SC2086  # words
load ../helpers

log="" lab=""
SHORT="REPEATS=1 CONCURRENCY=20 DURATION=4s WARMUP_CAP=1s SIZE=smoke"

setup_file() {
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  use_base_images
  (cd "$LAB_ROOT/tests/foreign" && unset COMPOSE_PROJECT_NAME && docker compose build --quiet)
}

teardown() { stop_lab; }

@test "two sides of an approach are up together, each with its own collector" {
  start_lab compare APPROACH=microhttp-virtual A=GC=serial "B=GC=g1; ENV:COLOUR=blue" $SHORT
  end_of_lab
  went_well "$status" "$log" || { cat "$log"; return 1; }
  [ "$(run_of '[.runs[] | [.approach, .partner, .gc_name] | join(" ")] | sort | join(", ")')" = \
    "microhttp-virtual-a microhttp-virtual-b serial, microhttp-virtual-b microhttp-virtual-a g1" ]
  [ "$(run_of '.contrasts[0] | [.kind, .a] | join(" ")')" = "settings microhttp-virtual-b" ]
  [[ $(run_of '[.contrasts[0].differs[].part] | join(" ")') == *jvm.gc* ]]
}

@test "a service of the user's is measured by its Compose file, and no secret of its environment is kept" {
  local kept folder=$BATS_TEST_TMPDIR/user
  mkdir "$folder"
  printf 'services:\n  echo:\n    image: loom-lab-foreign/uvicorn\n    environment: {PASSWORD: correct-horse}\n    ports: [8000]\n' \
    >"$folder/compose.yaml"
  printf 'requests:\n  - get: /{id}\n    values: ids.csv\n    headers: {Authorization: "Bearer ${TOKEN}"}\n' >"$folder/mix.yaml"
  printf 'id\n1\n2\n' >"$folder/ids.csv"
  export TOKEN=battery-staple
  start_lab run-users SUBJECTS="$folder/compose.yaml" READY=/ REQUESTS_FILE="$folder/mix.yaml" $SHORT
  end_of_lab
  went_well "$status" "$log" || { cat "$log"; return 1; }
  [ "$(run_of '.runs[0] | [.approach, .errors, .cpu_ms_per_request > 0] | tojson')" = '["echo",0,true]' ]
  [ "$(run_of '[.runs[0].load.targets[].target] | tojson')" = '["/1","/2"]' ]
  kept=$(grep -rlE 'correct-horse|battery-staple' "$(experiment_folder)" || true)
  [ -z "$kept" ] || { echo "$kept"; return 1; }
}

@test "what the lab does not run is loaded where it answers, and asked before any load" {
  local target
  target=$(docker run --detach --rm --cpuset-cpus 0 --publish 127.0.0.1:18080:8000 loom-lab-foreign/uvicorn)
  until [ "$(http_get 18080 / 2>/dev/null)" = "an answer" ]; do sleep 0.1; done
  start_lab run-users TARGET=http://127.0.0.1:18080/x $SHORT
  end_of_lab
  docker rm --force "$target" >/dev/null
  went_well "$status" "$log" || { cat "$log"; return 1; }
  [ "$(run_of '.runs[0] | [.approach, .errors, .throughput_rps > 100, .cpu_seconds, .sight] | tojson')" = \
    '["127.0.0.1-18080",0,true,null,"answers"]' ]
  [ -z "$(run_of '[.runs[0].rules[] | select(.outcome == "could not be checked").rule] | join(" ")')" ]
  start_lab run-users TARGET=http://127.0.0.1:18080/x $SHORT
  end_of_lab
  [ "$status" -ne 0 ]
  grep -q 'loom-lab: http://127.0.0.1:18080 did not answer' "$log" || { cat "$log"; return 1; }
}

@test "what pins virtual threads to their carriers is recorded, in a run of which nothing is compared" {
  start_lab run-hey APPROACH=tomcat-virtual JDK=21 "ENDPOINT=/pinned?delayInMillis=50" JFR=1 $SHORT
  end_of_lab
  [ "$(run_of '[.runs[0].reasons[] | select(test("JFR"))] | length')" = 1 ] || { cat "$log"; return 1; }
  grep -q 'BlockingEndpoints' "$(experiment_folder)"/runs/1-tomcat-virtual/raw/pins.txt || { cat "$(experiment_folder)"/runs/*/raw/pins.txt; return 1; }
  [ -z "$(docker volume ls --quiet --filter name=loom-lab-jfr)" ]
}

@test "an image alone is compared with itself under a limit" {
  start_lab compare IMAGE=loom-lab-foreign/nginx PORT=8080 READY=/ ENDPOINT=/ A=ENV:X=1 "FAIL=cpu_ms_per_request>+10%" $SHORT
  end_of_lab
  grep -q '^unresolved: cpu_ms_per_request of nginx-b at 20 connections: [01] blocks count' "$log" || { cat "$log"; return 1; }
  [ -s "$(experiment_folder)/junit.xml" ]
}
