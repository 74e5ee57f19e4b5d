#!/usr/bin/env bats
# A lab on a swarm of three engines on this host, as loomlab renders it for one. Needs root, Linux and dockerd.

load ../helpers
# shellcheck source=bin/lib.sh
. "$LAB_ROOT/bin/lib.sh"

setup_file() {
  ! is_linux || ! is_root || ! type -P dockerd unshare >/dev/null || CLUSTER=$(mktemp -d /var/tmp/loom-lab-swarm-XXXXXX)
  export CLUSTER
  [ -z "$CLUSTER" ] || "$LAB_ROOT/tests/cluster/swarm" up "$CLUSTER" microhttp-virtual
}
teardown_file() { [ -z "$CLUSTER" ] || "$LAB_ROOT/tests/cluster/swarm" down "$CLUSTER"; }
setup() { [ -n "$CLUSTER" ] || skip "needs to start more engines"; }

# shellcheck disable=SC2046  # a command
on() { $(cat "$CLUSTER/$1/enter") "${@:2}"; } # NODE COMMAND...
lab() { on load bash -c 'set -euo pipefail && . "$0/bin/lib.sh" && . "$0/bin/swarm_lab.sh" && "$@"' "$LAB_ROOT" "$@"; }
left() { on "$1" docker ps --all --quiet && on "$1" docker network ls --quiet --filter name=loom-lab && on "$1" docker volume ls --quiet; }

@test "an approach answers the load's node by its name, with what the backend says on a third node" {
  lab start_services --wait backend
  lab start_services --wait microhttp-virtual
  [ "$(lab node_of backend) $(lab node_of microhttp-virtual)" = "backend approach" ]
  # By the alias Prometheus finds both.
  local ask="print(web.urlopen('http://microhttp-virtual:8080/capabilities').read().decode(), len(names('approach')[2]))"
  ask="import urllib.request as web; from socket import gethostbyname_ex as names; $ask"
  printf '{"services": {"loadgen": {"entrypoint": ["python", "-c", "%s"]}}}' "$ask" >"$CLUSTER/ask.json"
  COMPOSE_FILE=$LAB_ROOT/compose.yaml:$CLUSTER/ask.json lab start_services loadgen
  lab wait_for Complete loadgen
  [ "$(lab node_of loadgen)" = load ]
  [ "$(lab log_of loadgen)" = "EVERYTHING 2" ]
}

@test "an approach has the limits of compose.yaml, and is not started again when it ends" {
  local id limits
  id=$(lab containers_of microhttp-virtual)
  limits=$(on approach docker inspect --format '{{.HostConfig.Memory}} {{.HostConfig.PidsLimit}}
{{index .HostConfig.Sysctls "net.core.somaxconn"}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}}' "$id")
  [ "$limits" = $'1610612736 40000\n16384 true [ALL]' ]
  on approach docker kill "$id"
  run lab wait_for Complete microhttp-virtual
  [[ $status -eq 1 && $output == *"non-zero exit (137)"* ]]
  [ "$(lab containers_of microhttp-virtual)" = "$id" ]
}

@test "what no node can run is told with its cause" {
  run lab start_services --wait prometheus
  [[ $status -eq 1 && $output == "could not start prometheus: "*"no suitable node"* ]]
}

@test "nothing is left on any node" {
  local node found deadline=$((SECONDS + 60))
  # shellcheck disable=SC2046  # services
  lab remove_services $(lab services_up)
  lab remove_networks
  for node in load approach backend; do
    until found=$(left "$node") && [ -z "$found" ]; do [ $SECONDS -lt $deadline ] && sleep 0.5 || { echo "$node: $found" && return 1; }; done
  done
}
