#!/usr/bin/env bats
# A lab on a swarm of four engines on this host: the seam, then the verbs. Needs root, Linux and dockerd.

load ../helpers
# shellcheck source=bin/lib.sh
. "$LAB_ROOT/bin/lib.sh"
APPROACH=microhttp-virtual SHORT="DURATION=4s WARMUP_CAP=1s SIZE=smoke REPEATS=1"

setup_file() {
  ! is_linux || ! is_root || ! type -P dockerd unshare >/dev/null || CLUSTER=$(mktemp -d /var/tmp/loom-lab-swarm-XXXXXX)
  export CLUSTER
  [ -n "$CLUSTER" ] || return 0
  "$LAB_ROOT/tests/cluster/swarm" up "$CLUSTER" $APPROACH
}
teardown_file() { [ -z "$CLUSTER" ] || "$LAB_ROOT/tests/cluster/swarm" down "$CLUSTER"; }
setup() {
  [ -n "$CLUSTER" ] || skip "needs to start more engines"
  log=$BATS_TEST_TMPDIR/log
}
teardown() { stop_lab; }

# shellcheck disable=SC2046  # a command
on() { $(cat "$CLUSTER/$1/enter") "${@:2}"; } # NODE COMMAND...
lab() { on load env LAB=swarm bash -c 'set -euo pipefail && . "$0/bin/lib.sh" && "$@"' "$CLUSTER/lab" "$@"; }
begin() { # VERB VARIABLES...: on the manager, in a process group of its own; its output is in $log
  set -m
  # shellcheck disable=SC2086  # words
  on load make -C "$CLUSTER/lab" LAB=swarm "$@" >"$log" 2>&1 </dev/null 3>&- &
  lab=$!
  set +m
}
ends() { # CODES...: with one of these; nothing of the lab is left on any node
  local code=0
  wait "$lab" || code=$?
  sed -nE 's/^make.*: \*\*\* .* ([0-9]+)$/\1/p' "$log" | grep -q . && code=$(sed -nE 's/^make.*: \*\*\* .* ([0-9]+)$/\1/p' "$log" | tail -n 1)
  [[ " $* " == *" $code "* ]] || { echo "ended with $code" && cat "$log" && return 1; }
  nothing_is_left
}
left() { # NODE: but for what Prometheus recorded
  on "$1" docker ps --all --quiet && on "$1" docker network ls --quiet --filter name=loom-lab &&
    { on "$1" docker volume ls --quiet | grep -vx loom-lab_prometheus-data || true; }
}
nothing_is_left() {
  local node found deadline=$((SECONDS + 60))
  for node in load approach backend monitor; do
    until found=$(left "$node") && [ -z "$found" ]; do [ $SECONDS -lt $deadline ] && sleep 0.5 || { echo "$node: $found" && return 1; }; done
  done
}

@test "an approach answers the manager by its name, with what the backend says on a third node" {
  lab start_services --wait cadvisor backend
  lab start_services --wait $APPROACH
  [ "$(lab tasks_of backend '{{.Node}}') $(lab tasks_of $APPROACH '{{.Node}}')" = "backend approach" ]
  # By the alias Prometheus finds both.
  local ask="print(web.urlopen('http://$APPROACH:8080/capabilities').read().decode(), len(names('approach')[2]))"
  ask="import urllib.request as web; from socket import gethostbyname_ex as names; $ask"
  run lab in_loadgen --rm -T --entrypoint "python -c" loadgen "$ask"
  [[ $output == *"EVERYTHING 2" ]] || { echo "$output" && return 1; }
}

@test "an approach has the limits of compose.yaml, and is not started again when it ends" {
  local id limits
  id=$(on approach docker ps --quiet --filter label=com.docker.compose.service=$APPROACH)
  limits=$(on approach docker inspect --format '{{.HostConfig.Memory}} {{.HostConfig.PidsLimit}}
{{index .HostConfig.Sysctls "net.core.somaxconn"}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}}' "$id")
  [ "$limits" = $'1610612736 40000\n16384 true [ALL]' ]
  on approach docker kill "$id"
  until [ -z "$(lab tasks_of $APPROACH '{{.ID}}' --filter desired-state=running)" ]; do sleep 0.2; done
  run lab wait_for $APPROACH
  [[ $status -eq 1 && $output == *"non-zero exit (137)"* ]]
  lab keep_container "${COMPOSE_PROJECT_NAME}_$APPROACH" "$BATS_TEST_TMPDIR" x
  [ "$(json '.[0] | "\(.State.Running) \(.State.ExitCode) \(.HostConfig.Memory)"' "$BATS_TEST_TMPDIR/container.json")" = "false 137 1610612736" ]
}

@test "what no node can run is told with its cause, and what a swarm cannot do before it starts" {
  on load docker node update --label-rm loom-lab.role monitor >/dev/null
  run lab start_services --wait prometheus
  on load docker node update --label-add loom-lab.role=monitor monitor >/dev/null
  [[ $status -eq 1 && $output == "could not start prometheus: "*"no suitable node"* ]]
  begin run-ab APPROACH=$APPROACH CONCURRENCY=10 JFR=1
  wait "$lab" || true
  grep -q "JFR=1 does not go with LAB=swarm" "$log" && grep -qE '\*\*\* .* 2$' "$log" || { cat "$log" && return 1; }
}

@test "make down leaves nothing on any node" {
  begin down
  ends 0
}

@test "doctor says what each node is, and what one lacks" {
  begin doctor
  wait "$lab" || true
  [ "$(grep -cE '^fine +node (load|approach|backend|monitor) +kernel ' "$log")" -eq 4 ] || { cat "$log" && return 1; }
  ! grep -E '^(will not work|caveat) +(node|images|clock|MTU|role) ' "$log" || return 1
  on backend docker rmi --no-prune loom-lab/backend:jdk25 >/dev/null
  begin doctor
  wait "$lab" || true
  on load docker save loom-lab/backend:jdk25 | on backend docker load >/dev/null
  grep -qE '^will not work +images backend .*: docker save loom-lab/backend:jdk25 \| ssh backend docker load$' "$log" || { cat "$log" && return 1; }
}

@test "a run is valid, by the evidence of every node" {
  begin run-ab APPROACH=$APPROACH CONCURRENCY=100 DELAY=100 DURATION=20s SIZE=smoke
  ends 0 1
  no_figure_is_missing
  [ "$(run_of '.missing == [] and .runs[0].foreign_cpu_share != null and .runs[0].steal_shares != null')" = true ]
  [ "$(run_of '.environment.nodes | map(select(.kernel and .cpu_model and .clock_off_ms)) | length')" -eq 4 ]
  [ "$(run_of '.runs[0].verdict')" = valid ] || only_the_host_spoilt || { run_of .runs[0].reasons && return 1; }
}

@test "users of a scenario come and go" {
  begin scenario NAME=25k-vus-smooth-spike-get-movies SCALE=0.005 APPROACH=$APPROACH DURATION=30s WARMUP_CAP=1s SIZE=smoke
  ends 0 1
  [ "$(run_of '.missing == [] and (.runs[0] | .concurrency == 125 and .errors == 0 and .latency_ms.min >= 100)')" = true ]
}

@test "two settings are compared, up together on the approach's node" {
  # shellcheck disable=SC2086  # words
  begin compare APPROACH=$APPROACH CONCURRENCY=10 A=GC=g1 B=GC=parallel $SHORT
  ends 0 1
  [ "$(run_of '.missing == [] and (.runs | map(.approach) | unique | length) == 2')" = true ]
}

@test "a sweep of two loads that is killed is finished" {
  # shellcheck disable=SC2086  # words
  begin sweep APPROACH=$APPROACH CONCURRENCY=10,20 $SHORT
  wait_for_line '\[2/2 ' 240
  kill -KILL -- "-$lab"
  wait "$lab" || true
  local folder
  folder=$(find "$LAB_RESULTS" -mindepth 1 -maxdepth 1 -type d -name '2*-sweep-*' | sort | tail -n 1)
  begin finish RESUME="${folder##*/}"
  ends 0 1
  [ "$(json '.missing == [] and (.runs | length) == 2' "$folder/summary.json")" = true ]
}

# lost_and_back NODE: in the first of two runs it is cut off until the approach's is lost to the manager.
lost_and_back() {
  # shellcheck disable=SC2086  # words
  begin sweep APPROACH=$APPROACH CONCURRENCY=10,20 $SHORT
  wait_for_line '\[1/2 .*measure' 240
  on "$1" ip link set lan down
  until on load docker node ls --format '{{.Hostname}} {{.Status}}' | grep -qx 'approach Down'; do sleep 0.5; done
  on "$1" ip link set lan up
  ends 0 1
  [ "$(run_of '.missing == [] and .runs[0].verdict == "invalid" and (.runs[1:] | length > 0 and
    all(.[]; .verdict != "invalid" and .errors == 0 and .foreign_cpu_share != null))')" = true ] ||
    { run_of '.runs[] | .verdict, .reasons' && return 1; }
}

@test "the approach's node is lost in the first of two runs, and back in the second" { lost_and_back approach; }

@test "the load's node, which is the manager's, is lost in the first of two runs, and back in the second" { lost_and_back load; }
