#!/usr/bin/env bats
# Container metrics where images are in containerd's store, as with Docker 29 installed fresh: on another engine, which has its own
# network, mounts and /run. Containers find its socket at /var/run/docker.sock there, and nothing at /run/containerd/containerd.sock,
# because it started its containerd itself. A copy of the lab measures on it, and builds nothing: the images are brought from here.

load ../helpers
load ../provoke
# shellcheck source=bin/lib.sh
. "$LAB_ROOT/bin/lib.sh"

can_start_another() { is_linux && is_root && type -P dockerd ip unshare >/dev/null; }

setup_file() {
  can_start_another || return 0
  # Not in /tmp, where the lab's containers have nothing of the host.
  OTHER=$(mktemp -d /var/tmp/loom-lab-engine-XXXXXX) CHECKOUT=$OTHER/lab
  export OTHER CHECKOUT
  mkdir -p "$OTHER/run" "$CHECKOUT"
  (cd "$LAB_ROOT" && cp -a .env bin compose*.yaml loadgen prometheus services sizes "$CHECKOUT")
  printf '#!/bin/sh\n' >"$CHECKOUT/bin/prepare"
}

setup() {
  can_start_another || skip "needs to start another engine"
  unset CONTAINER_METRICS COMPOSE_FILE
}

teardown() { ! can_start_another || stop_other; }

teardown_file() { [ -z "${OTHER:-}" ] || { stop_other && rm -rf "$OTHER"; }; }

# there COMMAND...: with the other engine.
there() { DOCKER_HOST=unix://$OTHER/run/docker.sock "$@"; }

# start_other true|false: with containerd's store, or with Docker's own.
start_other() {
  local deadline=$((SECONDS + 60))
  echo "{\"features\": {\"containerd-snapshotter\": $1}}" >"$OTHER/daemon.json"
  setsid unshare --net --mount sh -c 'ip link set lo up && mount --bind "$0/run" /run &&
    exec dockerd --config-file "$0/daemon.json" --data-root "$0/data"' "$OTHER" >"$OTHER/log" 2>&1 </dev/null 3>&- &
  until there engine_answers; do
    [ $SECONDS -lt $deadline ] || { tail -n 20 "$OTHER/log"; return 1; }
    sleep 0.2
  done
}

stop_other() {
  local pid deadline=$((SECONDS + 60))
  pid=$(cat "$OTHER/run/docker.pid" 2>/dev/null) || return 0
  kill "$pid"
  while kill -0 "$pid" 2>/dev/null; do
    [ $SECONDS -lt $deadline ] || { tail -n 20 "$OTHER/log"; return 1; }
    sleep 0.2
  done
}

# carry IMAGES...: those that the other engine lacks, from this one.
carry() {
  local image lacking=()
  for image in "$@"; do
    there docker image inspect "$image" >/dev/null 2>&1 || lacking+=("$image")
    docker image inspect "$image" >/dev/null 2>&1 || docker pull --quiet "$image"
  done
  [ ${#lacking[@]} -eq 0 ] || docker save "${lacking[@]}" | there docker load
}

# setting NAME: as images and Compose get it.
setting() (
  use_base_images
  load_env "$LAB_ROOT/.env" JDK
  echo "${!1}"
)

@test "with containerd's store doctor fails with the cure, or takes the exporter and says so" {
  start_other true
  carry loom-lab/loadgen "$(setting CADVISOR_IMAGE)" "$(setting PROMETHEUS_IMAGE)"
  CONTAINER_METRICS=cadvisor run there "$CHECKOUT/bin/doctor"
  [ "$status" -eq 3 ] || { echo "$output"; return 1; }
  grep -E '^will not work  container metrics .*do not arrive from cadvisor .*docs/how-to/hosts.md' <<<"$output"
  run there "$CHECKOUT/bin/doctor"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  grep -E '^caveat +container metrics not from cAdvisor.*exporter' <<<"$output"
  grep -qx "ENGINE_SOCKET=$OTHER/run/docker.sock" "$CHECKOUT/.cache/container-metrics"
}

@test "with containerd's store a default run is made on the exporter and is valid" {
  start_other true
  carry loom-lab/loadgen "$(setting CADVISOR_IMAGE)" "$(setting PROMETHEUS_IMAGE)" \
    "loom-lab/backend:jdk$(setting JDK)" "loom-lab/microhttp-virtual:jdk$(setting JDK)"
  CONCURRENCY=200 APPROACH=microhttp-virtual run there "$CHECKOUT/bin/run" run-ab
  valid_on_the_exporter
}

@test "with Docker's own store, on the same engine, cAdvisor sees containers" {
  start_other false
  carry loom-lab/loadgen "$(setting CADVISOR_IMAGE)"
  CONTAINER_METRICS=cadvisor there "$CHECKOUT/bin/metrics" --again
  grep -qx CONTAINER_METRICS=cadvisor "$CHECKOUT/.cache/container-metrics"
}
