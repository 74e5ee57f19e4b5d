#!/usr/bin/env bats
# The lab as `docker compose up` starts it, and what Prometheus and Grafana tell of it: the headline approaches side by side,
# then two of them one after the other under k6, with an error in every hundred answers of the backend, then side by side again.

load ../helpers

WATCH=loom-lab-observability-watch

# observability OPTIONS... -- COMMAND...: in the image of tests/observability, with this file's folder as /data.
observability() {
  local options=()
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  docker run --rm --user "$(id -u):$(id -g)" --volume "$BATS_FILE_TMPDIR:/data" "${options[@]}" loom-lab/observability "${@:2}"
}

# told FILE [OPTION]: the live tests of that file hold, all of them.
told() {
  local code=0
  observability --network loom-lab_default --volume "$LAB_ROOT/results:/results:ro" -- \
    pytest "live/$1" ${2:+"$2"} --experiment "/results/$(basename "$(newest)")" \
    --record /data/record --queries /data/queries >"$BATS_TEST_TMPDIR/told" || code=$?
  cat "$BATS_TEST_TMPDIR/told"
  ! grep -qE '[0-9]+ (skipped|xfailed)' "$BATS_TEST_TMPDIR/told" || return
  return $code
}

# queries_of START END: every panel's queries over that time, lines of JSON.
queries_of() {
  local dashboard
  for dashboard in compare one-run lab-health; do
    docker run --rm --network none --volume "$LAB_ROOT:/lab:ro" loom-lab/dashboards \
      python -m loomlab_dashboards queries "$dashboard" --start "$1" --end "$2"
  done
}

setup_file() {
  local start
  (cd "$LAB_ROOT" && docker compose up --detach --wait) >"$BATS_FILE_TMPDIR/log" 2>&1 ||
    { cat "$BATS_FILE_TMPDIR/log" >&3; return 1; }
  observability --detach --name "$WATCH" --pid host --volume /sys/fs/cgroup:/sys/fs/cgroup:ro -- \
    python -m watching record /data/record >/dev/null
  start=$(date +%s)
  # Too many errors make the runs invalid on purpose.
  run make -C "$LAB_ROOT" run-k6 APPROACH=tomcat-platform,webflux-netty RATE=100 DURATION=20s WARMUP_CAP=1s ERROR_SHARE=0.01 SEED=1
  [ "$status" -eq 2 ] && [[ $output == *"of the requests failed"* ]] || { echo "$output" >&3; return 1; }
  queries_of "$start" "$(date +%s)" >"$BATS_FILE_TMPDIR/queries"
  docker stop "$WATCH" >/dev/null
}

teardown_file() {
  docker rm --force "$WATCH" >/dev/null 2>&1 || true
  make -C "$LAB_ROOT" down >/dev/null 2>&1
}

@test "monitoring, backend and the headline set, stopped for an experiment, are up again" {
  local service notes
  for service in prometheus cadvisor backend tomcat-platform tomcat-virtual virtual-netty webflux-netty; do
    [ -n "$(docker ps --quiet --filter "label=com.docker.compose.project=loom-lab" --filter "label=com.docker.compose.service=$service")" ] ||
      { echo "$service is not up"; return 1; }
  done
  notes=$(json '.environment.notes | join(" ")' "$LAB_ROOT/results/latest/summary.json")
  for service in tomcat-platform tomcat-virtual virtual-netty webflux-netty; do
    [[ $notes == *"started again after it:"*" $service"* ]] || { echo "$service is not in: $notes"; return 1; }
  done
}

@test "every recording rule says something plausible of every run, and too many errors fire an alert" {
  told test_rule_figures.py
}

@test "every query of every panel answers with something plausible" {
  told test_panel_figures.py
}

@test "CPU, threads and RSS are the kernel's own figures, requests are the generator's" {
  told test_true_figures.py
}

@test "Prometheus refuses to be administrated" {
  told test_access.py
}

@test "watching costs less than three times its limit while the approaches run" {
  run told test_cost.py -s
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  echo "# $(grep "CPU of the watchers" <<<"$output")" >&3
}

@test "Grafana has the data source and the dashboards, and runs every panel's query" {
  [ -n "$(container_of grafana)" ] || skip "skipped: no Grafana image"
  told test_in_grafana.py
  run docker logs "$(container_of grafana)"
  [[ $output != *"logger=provisioning"*"level=error"* ]]
}

@test "make up starts what is not up, leaves alone what is, and says where to look" {
  local gone before
  gone=$(container_of results)
  docker rm --force "$gone" >/dev/null
  before=$(lab_containers | sort)
  run make -C "$LAB_ROOT" up
  [ "$status" -eq 0 ]
  [ -n "$(container_of results)" ] && [ "$(container_of results)" != "$gone" ]
  [[ $output == *"Prometheus: http://127.0.0.1:9090"* && $output == *"Results:    http://127.0.0.1:9080"* ]]
  [ "$(comm -13 <(echo "$before") <(lab_containers | sort))" = "$(container_of results)" ]
  [ -z "$(comm -23 <(echo "$before") <(lab_containers | sort))" ]
}

@test "Prometheus reaches every target that is up" {
  settles '[.data.result[].metric.service] | sort | join(" ")' 'up==1' \
    "backend cadvisor prometheus results tomcat-platform tomcat-virtual virtual-netty webflux-netty"
  settles '[.data.result[].metric.job] | unique - ["loadgen", "vegeta"] | tojson' 'up==0' '[]'
}

@test "CPU, RSS and threads of every container arrive" {
  local metric
  for metric in container_cpu_usage_seconds_total container_memory_rss container_threads; do
    settles '[.data.result[].metric.service] | sort | join(",")' "${metric}{service=~\"tomcat-.*|.*-netty|backend\"}>0" \
      backend,tomcat-platform,tomcat-virtual,virtual-netty,webflux-netty
  done
}

@test "every published port is bound to 127.0.0.1 only" {
  local ports
  ports=$(lab_containers | xargs docker inspect --format '{{range $ports := .NetworkSettings.Ports}}{{range $ports}}{{.HostIp}} {{end}}{{end}}' | tr ' ' '\n' | sort -u | grep .)
  [ "$ports" = 127.0.0.1 ]
}

@test "the results can be browsed, and Prometheus knows where, and what the newest experiment found" {
  [[ $(http_get 9080 /) == *"Directory listing"* ]]
  settles '[.data.result[].metric.url] | join(" ")' 'lab_results_info' http://127.0.0.1:9080
  settles '[.data.result[].metric.approach] | sort | join(" ")' \
    "lab_result_throughput_rps{experiment=\"$(basename "$(newest)")\"}>0" "tomcat-platform webflux-netty"
  settles '[.data.result[].metric | .a, .b, .kind] | join(" ")' "lab_contrast_info{experiment=\"$(basename "$(newest)")\"}" \
    "webflux-netty tomcat-platform stack"
}

@test "only cAdvisor sees the engine's socket, read-only" {
  local service mounts
  for service in prometheus backend tomcat-platform tomcat-virtual virtual-netty webflux-netty; do
    mounts=$(docker inspect --format '{{range .Mounts}}{{.Source}} {{end}}' "$(container_of "$service")")
    [[ $mounts != *docker.sock* && $mounts != *"/var/run "* && $mounts != *"/run "* ]]
  done
  [ "$(docker inspect --format '{{range .Mounts}}{{.RW}} {{end}}' "$(container_of cadvisor)" | tr ' ' '\n' | sort -u | grep .)" = false ]
}

@test "every approach and the backend run as an ordinary user" {
  local service
  for service in backend tomcat-platform tomcat-virtual virtual-netty webflux-netty; do
    [ "$(docker exec "$(container_of "$service")" id -u)" -ne 0 ]
  done
}

@test "a delay that was lent to a warm-up that is killed comes back by itself" {
  local lab="" log="" deadline
  behaviour() { docker exec "$(container_of backend)" bash -c '
    exec 3<>/dev/tcp/127.0.0.1/8081 && printf "GET /behaviour HTTP/1.0\r\n\r\n" >&3 && cat <&3'; }
  start_lab CONCURRENCY=50 SIZE=smoke APPROACH=microhttp-virtual
  wait_for_line "compilers at work" 120
  [[ $(behaviour) != *'"delay":"300"'* ]]
  docker kill "$(docker ps --quiet --filter label=com.docker.compose.service=loadgen)"
  wait "$lab" || true
  deadline=$((SECONDS + 65))
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

@test "make down leaves no container, not even the generator of a killed experiment" {
  docker compose --project-name loom-lab --project-directory "$LAB_ROOT" run --detach --no-deps --entrypoint "sleep 300" loadgen
  run make -C "$LAB_ROOT" down
  [ "$status" -eq 0 ]
  [ -z "$(lab_containers)" ]
}
