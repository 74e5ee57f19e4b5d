#!/usr/bin/env bats
# One lab from `make up` to `make down`: the headline approaches side by side, then two of them one after the other under vegeta, with
# an error in every hundred answers of the backend, then side by side again; then an experiment that is interrupted.

load ../helpers
load ../observability

log="" lab=""

setup_file() {
  local start code=0
  # The quota is for the panels that tell how often one stops a container.
  APPROACH_CPUS=1 make -C "$LAB_ROOT" up >"$BATS_FILE_TMPDIR/up" 2>&1 || { cat "$BATS_FILE_TMPDIR/up" >&3; return 1; }
  start=$(date +%s)
  # Too many errors make the runs invalid on purpose.
  make -C "$LAB_ROOT" run-vegeta APPROACH=tomcat-platform,webflux-netty RATE=100 DURATION=20s WARMUP_CAP=1s ERROR_SHARE=0.01 SEED=1 \
    >"$BATS_FILE_TMPDIR/log" 2>&1 || code=$?
  echo $code >"$BATS_FILE_TMPDIR/code"
  queries_of "$start" "$(date +%s)" >"$BATS_FILE_TMPDIR/queries"
}

teardown() { stop_lab; }

teardown_file() { make -C "$LAB_ROOT" down >/dev/null 2>&1; }

@test "make up says where to look" {
  local address
  for address in prometheus:\ http://127.0.0.1:9090 results:\ http://127.0.0.1:9080 tomcat-virtual:\ http://127.0.0.1:8080; do
    grep -qx "$address" "$BATS_FILE_TMPDIR/up" || { cat "$BATS_FILE_TMPDIR/up"; return 1; }
  done
}

@test "approaches that are up answer on ports of this host" {
  local deadline=$((SECONDS + 60)) # after the experiment they start again
  until [[ $(http_get 8080 /capabilities 2>/dev/null) =~ ^(EVERYTHING|READ_ONLY)$ ]]; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.5
  done
  [[ $(http_get 8080 /httpbin/block/0.1) == *0.1* ]]
}

# reaches ADDRESS PORT: from where an approach is.
reaches() {
  docker run --rm --network "container:$(container_of tomcat-virtual)" --entrypoint timeout loom-lab/loadgen \
    3 bash -c "exec 3<>/dev/tcp/$1/$2" 2>/dev/null
}

@test "what is under test reaches the backend, but no part of monitoring" {
  local service address
  reaches backend 8080
  for service in prometheus:9090 cadvisor:8080 results:8080; do
    for address in "${service%:*}" $(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}' "$(container_of "${service%:*}")"); do
      ! reaches "$address" "${service#*:}" || { echo "$address, $service"; return 1; }
    done
  done
}

@test "an experiment whose requests fail has invalid runs that say so, of each approach asked for, and fails" {
  [ "$(cat "$BATS_FILE_TMPDIR/code")" -eq 2 ] || { cat "$BATS_FILE_TMPDIR/log"; return 1; }
  fails 1 too_many_errors
  fails 2 too_many_errors
  [ "$(run_of '[.runs[].approach] | sort | join(" ")')" = "tomcat-platform webflux-netty" ]
  [ "$(run_of '[.runs[] | .errors / .requests | . > 0.01 and . < 0.06] | all')" = true ] || { run_of '.runs'; return 1; }
  [ "$LAB_RESULTS/latest" -ef "$(experiment_folder)" ]
}

@test "the headline set, stopped for the experiment, is up again with monitoring and backend" {
  local service notes
  for service in prometheus cadvisor backend results tomcat-platform tomcat-virtual virtual-netty webflux-netty; do
    [ -n "$(docker ps --quiet --filter "label=com.docker.compose.project=loom-lab" --filter "label=com.docker.compose.service=$service")" ] ||
      { echo "$service is not up"; return 1; }
  done
  notes=$(run_of '.environment.notes | join(" ")')
  for service in tomcat-platform tomcat-virtual virtual-netty webflux-netty; do
    [[ $notes == *"started again after it:"*" $service"* ]] || { echo "$service is not in: $notes"; return 1; }
  done
}

@test "rules, panels, targets and results tell something plausible, and nobody may administrate Prometheus" {
  told live/test_rule_figures.py live/test_panel_figures.py live/test_lab.py live/test_access.py
}

@test "results can be browsed, and every published port is bound to 127.0.0.1 only" {
  local ports
  [[ $(http_get 9080 /) == *"$(basename "$(experiment_folder)")"* ]]
  ports=$(lab_containers | xargs docker inspect --format '{{range $ports := .NetworkSettings.Ports}}{{range $ports}}{{.HostIp}} {{end}}{{end}}' | tr ' ' '\n' | sort -u | grep .)
  [ "$ports" = 127.0.0.1 ]
}

@test "a request that is wrong starts nothing and leaves results as they were" {
  local before up
  before=$(ls "$LAB_RESULTS") up=$(lab_containers | sort)
  run make -C "$LAB_ROOT" run-ab CONCURRENCY=abc
  [ "$status" -eq 2 ]
  [ "$(lab_containers | sort)" = "$up" ]
  [ "$(ls "$LAB_RESULTS")" = "$before" ]
}

@test "make down leaves no container, not even the generator of a killed experiment" {
  docker compose --project-name loom-lab --project-directory "$LAB_ROOT" run --detach --no-deps --entrypoint sh loadgen \
    -c 'trap exit TERM; sleep 300 & wait'
  run make -C "$LAB_ROOT" down
  [ "$status" -eq 0 ]
  [ -z "$(lab_containers)" ]
}

@test "Ctrl-C keeps what was measured, marks it unfinished and leaves nothing running" {
  local latest
  latest=$(readlink "$LAB_RESULTS/latest")
  make -C "$LAB_ROOT" down >/dev/null 2>&1
  start_lab CONCURRENCY=50 DURATION=30s WARMUP_CAP=1s SIZE=smoke APPROACH=microhttp-virtual,microhttp-async
  wait_for_line "measure [1-9][0-9]" 120
  kill -INT -- "-$lab"
  end_of_lab
  [ "$status" -ne 0 ]
  [ "$(run_of '.finished')" = null ]
  [ "$(run_of '.runs[0] | .requests > 0 and .latency_ms.mean > 0')" = true ]
  fails 1 unfinished
  [ "$(run_of '.runs | length')" -eq 1 ]
  [ "$(readlink "$LAB_RESULTS/latest")" = "$latest" ]
}
