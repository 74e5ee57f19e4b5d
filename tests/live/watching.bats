#!/usr/bin/env bats
# What Prometheus and Grafana tell of a live lab, held against the kernel's own counters; what watching costs; and a lab that is partly
# up. tests/lab/ has the rest.

load ../helpers
load ../observability

log="" lab=""

WATCH=loom-lab-observability-watch

setup_file() {
  local start code=0
  make -C "$LAB_ROOT" up >"$BATS_FILE_TMPDIR/up" 2>&1 || { cat "$BATS_FILE_TMPDIR/up" >&3; return 1; }
  observability --detach --name "$WATCH" --pid host --volume /sys/fs/cgroup:/sys/fs/cgroup:ro -- \
    python -m watching record /data/record >/dev/null
  start=$(date +%s)
  make -C "$LAB_ROOT" run-vegeta APPROACH=tomcat-platform,webflux-netty RATE=100 DURATION=20s WARMUP_CAP=1s SEED=1 \
    >"$BATS_FILE_TMPDIR/log" 2>&1 || code=$?
  went_well $code "$BATS_FILE_TMPDIR/log" || { cat "$BATS_FILE_TMPDIR/log" >&3; return 1; }
  queries_of "$start" "$(date +%s)" >"$BATS_FILE_TMPDIR/queries"
  docker stop "$WATCH" >/dev/null
}

teardown() { stop_lab; }

teardown_file() {
  docker rm --force "$WATCH" >/dev/null 2>&1 || true
  make -C "$LAB_ROOT" down >/dev/null 2>&1
}

@test "CPU, threads and RSS are the kernel's own figures, requests are the generator's" {
  told live/test_true_figures.py
}

@test "watching costs less than three times its limit while the approaches run" {
  run told live/test_cost.py -s
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  echo "# $(grep "CPU of the watchers" <<<"$output")" >&3
}

@test "Grafana has the data source and the dashboards, and runs every panel's query" {
  [ -n "$(container_of grafana)" ] || skip "skipped: no Grafana image"
  told live/test_in_grafana.py
  run docker logs "$(container_of grafana)"
  [[ $output != *"logger=provisioning"*"level=error"* ]]
}

@test "make up starts what is not up, and leaves alone what is" {
  local gone before
  gone=$(container_of results)
  docker rm --force "$gone" >/dev/null
  before=$(lab_containers | sort)
  run make -C "$LAB_ROOT" up
  [ "$status" -eq 0 ]
  [ -n "$(container_of results)" ]
  [ "$(container_of results)" != "$gone" ]
  [ "$(comm -13 <(echo "$before") <(lab_containers | sort))" = "$(container_of results)" ]
  [ -z "$(comm -23 <(echo "$before") <(lab_containers | sort))" ]
}

@test "a delay that was lent to a warm-up that is killed comes back by itself" {
  local deadline
  behaviour() { docker exec "$(container_of backend)" bash -c '
    exec 3<>/dev/tcp/127.0.0.1/8081 && printf "GET /behaviour HTTP/1.0\r\n\r\n" >&3 && cat <&3'; }
  start_lab CONCURRENCY=50 SIZE=smoke APPROACH=microhttp-virtual
  wait_for_line "compilers at work" 120
  [[ $(behaviour) != *'"delay":"300"'* ]]
  docker kill "$(docker ps --quiet --filter label=com.docker.compose.service=loadgen)"
  wait "$lab" || true
  deadline=$((SECONDS + 120)) # the lease is of a minute
  until [[ $(behaviour) == *'"delay":"300"'* ]]; do
    [ $SECONDS -lt $deadline ] || { behaviour; return 1; }
    sleep 0.5
  done
}

@test "doctor finds nothing lacking while the lab is up" {
  run make -C "$LAB_ROOT" doctor
  [ "$status" -eq 0 ]
  [[ $output != *"will not work"* && $output == *"fine           container metrics"* ]] || { echo "$output"; return 1; }
}
