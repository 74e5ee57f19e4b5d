#!/usr/bin/env bats
# The lab as `docker compose up` starts it.

load ../helpers

setup_file() {
  (cd "$BATS_TEST_DIRNAME/../.." && docker compose up --detach --wait) >"$BATS_FILE_TMPDIR/log" 2>&1 ||
    { cat "$BATS_FILE_TMPDIR/log" >&3; return 1; }
}

teardown_file() {
  make -C "$BATS_TEST_DIRNAME/../.." down >/dev/null 2>&1
}

@test "monitoring, backend and the headline set are up" {
  local service
  for service in prometheus cadvisor backend tomcat-platform tomcat-virtual webflux-netty; do
    [ -n "$(docker ps --quiet --filter "label=com.docker.compose.project=loom-lab" --filter "label=com.docker.compose.service=$service")" ]
  done
}

@test "Prometheus reaches every target that is up" {
  settles '[.data.result[].metric.service] | sort | join(" ")' 'up==1' \
    "backend cadvisor prometheus tomcat-platform tomcat-virtual webflux-netty"
  settles '[.data.result[].metric.job] | unique - ["loadgen", "vegeta"] | tojson' 'up==0' '[]'
}

@test "CPU, RSS and threads of every container arrive" {
  local metric
  for metric in container_cpu_usage_seconds_total container_memory_rss container_threads; do
    settles '[.data.result[].metric.service] | sort | join(",")' "${metric}{service=~\"tomcat-.*|webflux-.*|backend\"}>0" \
      backend,tomcat-platform,tomcat-virtual,webflux-netty
  done
}

@test "every published port is bound to 127.0.0.1 only" {
  local ports
  ports=$(lab_containers | xargs docker inspect --format '{{range $ports := .NetworkSettings.Ports}}{{range $ports}}{{.HostIp}} {{end}}{{end}}' | tr ' ' '\n' | sort -u | grep .)
  [ "$ports" = 127.0.0.1 ]
}

@test "the results can be browsed" {
  [[ $(http_get 9080 /) == *"Directory listing"* ]]
}

@test "only cAdvisor sees the engine's socket, read-only" {
  local service mounts
  for service in prometheus backend tomcat-platform tomcat-virtual webflux-netty; do
    mounts=$(docker inspect --format '{{range .Mounts}}{{.Source}} {{end}}' "$(container_of "$service")")
    [[ $mounts != *docker.sock* && $mounts != *"/var/run "* && $mounts != *"/run "* ]]
  done
  [ "$(docker inspect --format '{{range .Mounts}}{{.RW}} {{end}}' "$(container_of cadvisor)" | tr ' ' '\n' | sort -u | grep .)" = false ]
}

@test "every approach and the backend run as an ordinary user" {
  local service
  for service in backend tomcat-platform tomcat-virtual webflux-netty; do
    [ "$(docker exec "$(container_of "$service")" id -u)" -ne 0 ]
  done
}

@test "an experiment stops what was up and starts it again" {
  run make -C "$LAB_ROOT" run-ab CONCURRENCY=50 DURATION=8s WARMUP_CAP=1s SIZE=smoke APPROACH=webflux-netty
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  local service
  for service in prometheus cadvisor backend tomcat-platform tomcat-virtual webflux-netty; do
    [ -n "$(docker ps --quiet --filter "label=com.docker.compose.project=loom-lab" --filter "label=com.docker.compose.service=$service")" ] ||
      { echo "$service is not up again"; return 1; }
  done
  [[ $(json '.environment.notes | join(" ")' "$LAB_ROOT/results/latest/summary.json") == *"tomcat-platform"* ]]
}

@test "a delay that was lent to a warm-up that is killed comes back by itself" {
  local lab="" log="" deadline
  behaviour() { docker exec "$(container_of backend)" bash -c '
    exec 3<>/dev/tcp/127.0.0.1/8081 && printf "GET /behaviour HTTP/1.0\r\n\r\n" >&3 && cat <&3'; }
  start_lab CONCURRENCY=50 SIZE=smoke APPROACH=webflux-netty
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
  [[ $output != *LACK* ]]
}

@test "make down leaves no container" {
  run make -C "$LAB_ROOT" down
  [ "$status" -eq 0 ]
  [ -z "$(lab_containers)" ]
}
