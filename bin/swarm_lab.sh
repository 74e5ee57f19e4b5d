# A lab on a swarm, asked of its manager, in place of bin/compose_lab.sh; each service is on the node of its role. Source it after
# lib.sh.
# shellcheck shell=bash

STACK=$COMPOSE_PROJECT_NAME START_CAP_S=200

start_services() { # [--wait] SERVICES...: of a load generator that has ended, another one begins only once it is removed
  local wait="" model stack said
  [ "$1" != --wait ] || { wait=yes && shift; }
  model=$(compose --profile '*' config --format json "$@") && stack=$(loomlab --interactive -- stack <<<"$model") || return
  said=$(docker stack deploy --resolve-image never --compose-file - "$STACK" <<<"$stack" 2>&1) ||
    { say "could not start $*: ${said##*$'\n'}" && return 1; }
  [ -z "$wait" ] || wait_for "Running|Complete" "$@"
}

tasks_of() { docker service ps --no-trunc --format "$2" "${STACK}_$1" 2>/dev/null; } # SERVICE FORMAT
wait_for() { # STATES SERVICES...: until each of their tasks is in one of these; a task runs once it is healthy
  local deadline=$((SECONDS + START_CAP_S)) service states fault
  for service in "${@:2}"; do
    until states=$(tasks_of "$service" '{{.CurrentState}}') && [ -n "$states" ] && ! grep -qvE "^($1) " <<<"$states"; do
      fault=$(tasks_of "$service" '{{.Error}}' | grep -m 1 . || true)
      [ -z "$fault" ] && [ $SECONDS -lt $deadline ] && sleep 0.5 ||
        { say "could not start $service: ${fault:-$states after $START_CAP_S s}" && return 1; }
    done
  done
}

node_of() { tasks_of "$1" '{{.Node}}'; } # SERVICE
log_of() { docker service logs --raw "${STACK}_$1" 2>&1; } # SERVICE
services_up() { # those of the lab's services that a node runs, or is to run
  docker service ls --filter "label=com.docker.stack.namespace=$STACK" --format '{{.Name}}' | sed "s/^${STACK}_//"
}
containers_of() { # SERVICES...: on whichever node
  local service
  for service in "$@"; do tasks_of "$service" '{{.ID}}'; done |
    xargs docker inspect --format '{{.Status.ContainerStatus.ContainerID}}' 2>/dev/null | grep -xE "$CONTAINER_ID" || true
}

remove_services() { # [--volumes] SERVICES...: with their containers, and the volumes of these that have no name
  [ "$1" != --volumes ] || shift
  printf "${STACK}_%s\n" "$@" | xargs docker service rm >/dev/null 2>&1
}
