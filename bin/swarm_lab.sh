# A lab on a swarm, asked of its manager, on which this runs: what bin/compose_lab.sh has for one engine. Each service is on the node
# of its role, load generators are containers of the manager. lib.sh sources it.
# shellcheck shell=bash

STACK=$COMPOSE_PROJECT_NAME START_CAP_S=200 END_CAP_S=30 ROLES="approach backend monitor"
ASK_DOCTOR="make doctor LAB=swarm tells what nodes lack"
export PROMETHEUS_HOST="" # its name leads to it only once it runs

container_metrics() { echo engine; }
find_metrics() { :; }
files_of_lab() { [ -n "${TARGET:-}" ] || echo ":$LAB_ROOT/compose.engine.yaml:$LAB_ROOT/compose.swarm.yaml"; }

# stack_of SERVICES...: what the swarm takes of them, with their images by ID, lest a node has others of that name.
# shellcheck disable=SC2046,SC2086  # one word an image
stack_of() {
  local model images ids
  model=$(compose --profile '*' config --format json "$@") && images=$(compose --profile '*' config --images "$@" | sort -u) || return
  ids=$(docker image inspect --format '{{.Id}}' $images) ||
    { say "these images must be on this engine, and on the node of their role: docker load or pull them" && return "$HOST_CANNOT"; }
  loomlab --interactive -- stack --folder "$LAB_ROOT" $(paste -d= <(echo "$images") <(echo "$ids") | sed 's/^/--image /') <<<"$model"
}

manages_swarm() { [ "$(docker info --format '{{.Swarm.ControlAvailable}}' 2>/dev/null)" = true ]; }
nodes_of_role() { # ROLE
  docker node ls --filter "node.label=loom-lab.role=$1" --format '{{.Hostname}} {{.Status}} {{.Availability}}{{if .Self}} itself{{end}}'
}
role_fault() { # ROLE NODES: which have it, where that is not one that is ready, a tab, and the cure
  case $2 in
    "") printf 'no node has it\trun docker node update --label-add loom-lab.role=%s NODE' "$1" ;;
    *$'\n'*) printf '%s\trun docker node update --label-rm loom-lab.role NODE, or docker node rm NODE, for all but one' "${2//$'\n'/, }" ;;
    *" Ready Active" | *" Ready Active itself") ;;
    *) printf '%s\tstart its engine, or run docker node update --availability active %s' "$2" "${2%% *}" ;;
  esac
}
check_lab() { # [SERVICES...]
  local role fault
  manages_swarm ||
    die "$HOST_CANNOT" "LAB=swarm needs an engine that manages a swarm: run docker swarm init, or make on the manager."
  [ $# -gt 0 ] || return 0
  for role in $ROLES; do
    fault=$(role_fault "$role" "$(nodes_of_role "$role")")
    [ -z "$fault" ] || die "$HOST_CANNOT" "LAB=swarm needs one ready node of the role $role (${fault/$'\t'/): }."
  done
  stack_of "$@" >/dev/null
}

start_services() { # [--wait] SERVICES...: those that have ended anew
  local wait="" stack said name
  [ "$1" != --wait ] || { wait=yes && shift; }
  stack=$(stack_of "$@") || return
  for name in under_load monitoring; do
    docker network inspect "${STACK}_$name" >/dev/null 2>&1 ||
      docker network create --driver overlay --attachable "${STACK}_$name" >/dev/null || return
  done
  for name in "$@"; do [ -n "$(tasks_of "$name" '{{.ID}}' --filter desired-state=running)" ] || remove_services "$name"; done
  said=$(docker stack deploy --resolve-image never --compose-file - "$STACK" <<<"$stack" 2>&1) ||
    { say "could not start $*: ${said##*$'\n'}" && return 1; }
  [ -z "$wait" ] || wait_for "$@"
}

tasks_of() { docker service ps --no-trunc --format "$2" "${@:3}" "${STACK}_$1" 2>/dev/null; } # SERVICE FORMAT [OPTIONS...]
wait_for() { # SERVICES...: until each of their tasks runs, which it does once it is healthy
  local deadline=$((SECONDS + START_CAP_S)) service states fault
  for service in "$@"; do
    # Those that are to be ready are to run after a delay, as an exporter of a node that came back.
    until states=$(tasks_of "$service" '{{.CurrentState}}' --filter desired-state=running --filter desired-state=ready) &&
      [ -n "$states" ] &&
      ! grep -qv "^Running " <<<"$states"; do
      # The first that is listed of a name is the latest.
      fault=$(tasks_of "$service" '{{.Name}} {{.Node}} {{.Error}}' |
        awk '!seen[$1]++ && NF > 2 && !found++ { sub(/^[^ ]+ +/, ""); print }' || true)
      [ -z "$fault" ] && [ $SECONDS -lt $deadline ] && sleep 0.5 || {
        states=${states:-no node runs it}
        say "could not start $service: ${fault:-${states//$'\n'/, } after $START_CAP_S s}; $ASK_DOCTOR" && return 1
      }
    done
  done
}

services_up() { # those of the lab's services that a node runs, or is to run
  docker service ls --filter "label=com.docker.stack.namespace=$STACK" --format '{{.Name}}' 2>/dev/null | sed "s/^${STACK}_//" |
    grep -xE "$WORD" || true
}

address_of() { echo "on $(tasks_of "$1" '{{.Node}}'), and no port leads to it"; } # SERVICE PORT
containers_of() { # SERVICES...: what stands for their containers, which are on any node
  printf "${STACK}_%s\n" "$@" | xargs docker service inspect --format '{{.Spec.Name}}' 2>/dev/null | grep -xE "$WORD" || true
}

stop_services() { remove_services "$@"; }
# shellcheck disable=SC2046  # one word a service
remove_services() { # [--volumes] SERVICES...: with the volumes of theirs that have no name
  [ "${1:-}" != --volumes ] || shift
  remove_containers $(containers_of "$@")
}

# shellcheck disable=SC2086  # one word a task
remove_containers() { # services, on whichever node, or containers of this one; until they are gone
  local tasks deadline=$((SECONDS + END_CAP_S))
  [ $# -gt 0 ] || return 0
  tasks=$(docker service ps --no-trunc --quiet --filter desired-state=running "$@" 2>/dev/null || true)
  docker rm --force --volumes "$@" >/dev/null 2>&1 || true
  docker service rm "$@" >/dev/null 2>&1 || true
  while [ -n "$tasks" ] && [ $SECONDS -lt $deadline ] &&
    [ -n "$(docker inspect --type task --format '{{.ID}}' $tasks 2>/dev/null)" ]; do sleep 0.2; done
}

remove_networks() { # which what has just ended may still have
  local deadline=$((SECONDS + END_CAP_S)) name
  [ -z "$(services_up)" ] || return 0
  for name in "$STACK"_{under_load,monitoring}; do
    until docker network rm "$name" >/dev/null 2>&1 || ! docker network inspect "$name" >/dev/null 2>&1; do
      [ $SECONDS -lt $deadline ] && sleep 0.5 || return 0
    done
  done
}

# shellcheck disable=SC2046  # one word a service
remove_lab() { # [--volumes]: of this node
  remove_services $(services_up)
  remove_networks
  [ -z "${1:-}" ] || docker volume ls --quiet --filter "label=com.docker.stack.namespace=$STACK" | xargs docker volume rm >/dev/null || true
}

log_of() { # 30 s at most, for it waits for a node that is lost
  if docker service inspect "$1" >/dev/null 2>&1; then timeout 30 docker service logs --raw "$1"; else docker logs "$1"; fi
}
# What its task tells; not whether memory ran out.
inspected() {
  docker inspect --type task --format '[{"Image": {{json .Spec.ContainerSpec.Image}}, "RestartCount": 0, "State": {
  "Running": {{eq .Status.State "running"}}, "ExitCode": {{.Status.ContainerStatus.ExitCode}}, "StartedAt": {{json .CreatedAt}},
  "FinishedAt": {{json .Status.Timestamp}}}, "HostConfig": {"Memory": {{.Spec.Resources.Limits.MemoryBytes}},
  "PidsLimit": {{.Spec.Resources.Limits.Pids}}}, "Node": {{json .NodeID}}}]' "$(docker service ps --no-trunc --quiet "$1" | sed -n 1p)"
}

of_service() { printf '{{index .Spec.TaskTemplate.ContainerSpec.Labels "%s"}}' "$1"; } # LABEL
left_behind() {
  containers_here --filter label=com.docker.compose.oneoff=True
  docker service ls --quiet --filter "label=com.docker.stack.namespace=$STACK" | xargs docker service inspect --format "{{.Spec.Name}}|running|$(
    of_service loom-lab.experiment)|$(of_service com.docker.compose.project.working_dir)|$(of_service loom-lab.were-up)|{{.Spec.Name}}|$(
    of_service com.docker.compose.service)|$(of_service loom-lab.results)" 2>/dev/null || true
}

listed_nodes() { # but for those that have no role and are gone
  docker node ls --quiet | xargs docker node inspect --format '{{if or (index .Spec.Labels "loom-lab.role") (eq .Status.State "ready")}}{{
    ""}}{"name": {{json .Description.Hostname}}, "role": {{json (index .Spec.Labels "loom-lab.role")}}, "architecture": {{
    json .Description.Platform.Architecture}}, "nano_cpus": {{.Description.Resources.NanoCPUs}}, "memory_bytes": {{
    .Description.Resources.MemoryBytes}}, "engine": {{json .Description.Engine.EngineVersion}}}{{end}}' | grep . | sort | paste -sd, -
}
of_nodes() { wait_for cadvisor && in_loadgen --rm -T loadgen "$@" <<<"[$(listed_nodes)]"; } # COMMAND...
nodes_of_lab() { of_nodes nodes 2>/dev/null || listed_nodes; }                               # for engine.json
check_nodes() { # by exporters, which are started for it where the lab is not up
  local up said kind name what cure options=() role service image digest
  up=$(services_up)
  for service in backend prometheus $(approaches); do
    case $service in backend) role=backend ;; prometheus) role=monitor ;; *) role=approach ;; esac
    image=$(compose --profile '*' config --images "$service" | sed -n 1p)
    ! digest=$(docker image inspect --format '{{.Id}}' "$image" 2>/dev/null) || options+=(--image "$role=$image=$digest")
  done
  if said=$({ grep -qx cadvisor <<<"$up" || start_services cadvisor; } 2>&1 &&
    of_nodes check-nodes --files "$FLAGSHIP_FILES" --threads "$FLAGSHIP_THREADS" ${options[@]+"${options[@]}"} 2>&1); then
    while IFS=$'\t' read -r kind name what cure; do
      case $kind in fine | caveat | fails) $kind "$name" "$what" ${cure:+"$cure"} ;; esac # Compose says other things
    done <<<"$said"
  else
    said=${said##*$'\n'}
    fails nodes "${said%"; $ASK_DOCTOR"}" "each needs this engine's loom-lab/loadgen: docker save loom-lab/loadgen | ssh NODE docker load"
  fi
  grep -qx cadvisor <<<"$up" || { remove_services cadvisor && remove_networks; }
}
check_containers() { # of bin/doctor: that each role has one node that can run it, and all are of one architecture
  local role nodes fault kinds
  manages_swarm || { fails swarm "this engine manages none" "run docker swarm init, or make on the manager" && return; }
  for role in $ROLES; do
    nodes=$(nodes_of_role "$role") fault=$(role_fault "$role" "$nodes")
    if [ -n "$fault" ]; then fails "role $role" "${fault%$'\t'*}" "${fault#*$'\t'}"; else
      [[ $nodes != *" itself" ]] && fine "role $role" "${nodes%% *}" ||
        caveat "role $role" "${nodes%% *}, which is this host" "the load generator takes its CPU: use another node"
    fi
  done
  kinds=$(docker node ls --quiet | xargs docker node inspect --format '{{.Description.Platform.Architecture}}' | sort -u | paste -sd' ' -)
  [[ $kinds != *" "* ]] && fine architecture "$kinds" || fails architectures "$kinds" "use nodes of one, for which images are built"
  [ -z "$(image_id loadgen)" ] && caveat nodes "not asked, because the load generator's image is not here" "run bin/prepare" || check_nodes
}
