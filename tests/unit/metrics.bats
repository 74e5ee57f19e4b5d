#!/usr/bin/env bats
# By which way container metrics come, with an engine of our making.

# shellcheck disable=SC2030,SC2031  # every test is a process
load ../helpers

setup() {
  CHECKOUT=$BATS_TEST_TMPDIR/lab CALLS=$BATS_TEST_TMPDIR/calls
  mkdir -p "$CHECKOUT"
  cp -R "$LAB_ROOT/bin" "$LAB_ROOT/.env" "$LAB_ROOT"/compose*.yaml "$CHECKOUT/"
  rm -f "$CHECKOUT/compose.override.yaml" "$CHECKOUT/compose.stand-ins.yaml"
  unset CONTAINER_METRICS COMPOSE_FILE DOCKER_HOST
  export ENGINE=one WORKS="cadvisor engine" ENGINE_NAME=another-machine SECURITY="[name=seccomp]" LAB_LOCK=held
  # Which way a Compose file list stands for, and what a container that asks for its figures gets.
  stub docker "echo \"\${COMPOSE_FILE##*/} \$* \${LAB_EXPERIMENT:-}\" >>$CALLS"'
    case ${COMPOSE_FILE:-} in *compose.kmsg.yaml) way=cadvisor ;; *compose.engine.yaml) way=engine ;; *) way=none ;; esac
    case $* in
      "volume inspect held") ;;
      "info --format {{.DockerRootDir}}") echo /data/docker ;;
      "info --format {{.Name}} {{.SecurityOptions}}") echo "$ENGINE_NAME $SECURITY" ;;
      "info --format {{.CgroupVersion}}") echo "${CGROUP:-1}" ;;
      version*runc*) echo "${RUNC:-}" ;;
      "info --format"*) echo "$ENGINE 28.5.1" ;;
      "context inspect"*) echo unix:///run/user/1000/docker.sock ;;
      ps*) echo "${UP:-}" ;;
      *" run "*sees-containers*) [[ " $WORKS " == *" $way "* ]] || { echo "loom-lab: $way does not know this container." >&2; exit 3; } ;;
      *" up "*) ;;
    esac'
}

found() { sed -n "s/^$1=//p" "$CHECKOUT/.cache/container-metrics"; }
asked_ways() { grep -o 'compose\.[a-z]*\.yaml .*sees-containers' "$CALLS" | cut -d' ' -f1 | paste -sd' ' -; }

@test "cAdvisor is taken where it sees containers, with the engine's own data root" {
  run "$CHECKOUT/bin/metrics"
  [ "$status" -eq 0 ] && [ -z "$output" ] || { echo "$output"; return 1; }
  [ "$(found CONTAINER_METRICS) $(found ENGINE_DATA_ROOT) $(found ENGINE_SOCKET)" = "cadvisor /data/docker /var/run/docker.sock" ]
  [ "$(asked_ways)" = compose.kmsg.yaml ]
}

@test "the exporter is taken where it sees none, and that is said" {
  export WORKS=engine
  run "$CHECKOUT/bin/metrics"
  [ "$status" -eq 0 ]
  [[ $output == *"the lab's own exporter"*"cadvisor does not know this container"* ]]
  [ "$(found CONTAINER_METRICS)" = engine ]
  [ "$(found CADVISOR_FAILED)" = "cadvisor does not know this container" ]
}

@test "where neither sees any, both reasons and the cure are one sentence, and nothing is kept" {
  export WORKS=""
  run "$CHECKOUT/bin/metrics"
  refused 3 "cadvisor or engine" "cadvisor does not know" "engine does not know" docs/how-to/hosts.md
  [ ! -e "$CHECKOUT/.cache/container-metrics" ]
}

@test "an engine is asked once, another one again, and any with --again" {
  "$CHECKOUT/bin/metrics"
  : >"$CALLS"
  "$CHECKOUT/bin/metrics"
  [ -z "$(asked_ways)" ]
  "$CHECKOUT/bin/metrics" --again
  [ "$(asked_ways)" = compose.kmsg.yaml ]
  : >"$CALLS"
  ENGINE=two "$CHECKOUT/bin/metrics"
  [ "$(asked_ways)" = compose.kmsg.yaml ]
}

@test "a way that was asked for is the only one that is tried" {
  WORKS=engine CONTAINER_METRICS=cadvisor run "$CHECKOUT/bin/metrics"
  refused 3 "do not arrive from cadvisor (cadvisor does not know"
  CONTAINER_METRICS=engine "$CHECKOUT/bin/metrics"
  [ "$(found CONTAINER_METRICS)" = engine ]
  CONTAINER_METRICS=docker run "$CHECKOUT/bin/metrics"
  refused 2 "CONTAINER_METRICS=docker" "neither cadvisor nor engine"
}

@test "a rootless engine's socket is its user's" {
  SECURITY='[name=seccomp name=rootless]' "$CHECKOUT/bin/metrics"
  [ "$(found ENGINE_SOCKET)" = /run/user/1000/docker.sock ]
}

@test "the socket of an engine on this host is where this host has it, that of any other where its machine has it" {
  DOCKER_HOST=unix:///run/second.sock "$CHECKOUT/bin/metrics"
  [ "$(found ENGINE_SOCKET)" = /var/run/docker.sock ]
  ENGINE_NAME=$(uname -n)
  DOCKER_HOST=unix:///run/second.sock "$CHECKOUT/bin/metrics"
  [ "$(found ENGINE_SOCKET)" = /run/second.sock ]
  "$CHECKOUT/bin/metrics"
  [ "$(found ENGINE_SOCKET)" = /run/user/1000/docker.sock ]
  DOCKER_HOST=tcp://127.0.0.1:2375 "$CHECKOUT/bin/metrics"
  [ "$(found ENGINE_SOCKET)" = /var/run/docker.sock ]
}

# weight_is WEIGHT FORMULA: of the backend, by its shares, in awk.
weight_is() {
  "$CHECKOUT/bin/metrics" --again
  [ "$(awk -v shares="$(found ENGINE_BACKEND_SHARES)" "BEGIN { bits = log(shares) / log(2); print int($2) }")" = "$1" ] || { found ENGINE_BACKEND_SHARES; return 1; }
}

@test "the backend has eight times the weight of others, on either version of cgroups and by either formula of runc" {
  weight_is 8 "shares / 1024"
  export CGROUP=2
  RUNC=1.1.15 weight_is 800 "1 + (shares - 2) * 9999 / 262142"
  RUNC=1.3.1+ds1 weight_is 800 "1 + (shares - 2) * 9999 / 262142"
  RUNC=1.3.2 weight_is 800 "10 ^ ((bits ^ 2 + 125 * bits) / 612 - 7 / 34) + 0.999"
  RUNC=1.4.0-rc.1 weight_is 800 "10 ^ ((bits ^ 2 + 125 * bits) / 612 - 7 / 34) + 0.999"
}

@test "what was started for the question is removed, and what was up before stays" {
  "$CHECKOUT/bin/metrics"
  grep -q 'up --detach --no-deps cadvisor probe$' "$CALLS"
  grep -q 'rm --stop --force cadvisor' "$CALLS"
  : >"$CALLS"
  UP=cadvisor "$CHECKOUT/bin/metrics" --again
  grep -q 'up --detach --no-deps cadvisor $' "$CALLS"
  [[ $(cat "$CALLS") != *"rm --stop --force cadvisor"* ]]
}

@test "every Compose command of the lab takes the overlay of the way that was found" {
  # shellcheck source=bin/lib.sh
  . "$CHECKOUT/bin/lib.sh"
  docker() { echo "$COMPOSE_FILE"; }
  [ "$(compose ps)" = "$CHECKOUT/compose.yaml" ]
  mkdir "$CHECKOUT/.cache"
  echo CONTAINER_METRICS=engine >"$CHECKOUT/.cache/container-metrics"
  [ "$(compose ps)" = "$CHECKOUT/compose.yaml:$CHECKOUT/compose.engine.yaml" ]
  touch "$CHECKOUT/compose.override.yaml"
  [ "$(CONTAINER_METRICS=cadvisor compose ps)" = "$CHECKOUT/compose.yaml:$CHECKOUT/compose.override.yaml:$CHECKOUT/compose.kmsg.yaml" ]
  [ "$(COMPOSE_FILE=/a:/b compose ps)" = "/a:/b:$CHECKOUT/compose.engine.yaml" ]
}
