# A lab on one engine, by Compose: what bin/swarm_lab.sh has for several. lib.sh sources it.
# shellcheck shell=bash

start_services() { # [--wait] SERVICES...
  local said
  said=$(compose up --detach --wait-timeout=200 "$@" 2>&1) ||
    { say "could not start ${*#--wait}: ${said##*$'\n'}" && return 1; }
}

services_up() { # [--all]: those of the lab's containers that run; --all: or that are just starting, or have ended
  docker ps "$@" --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" \
    --format '{{.Label "com.docker.compose.service"}}' 2>/dev/null | grep -xE "$WORD" || true
}

containers_of() { compose ps --all --quiet "$@" 2>/dev/null | grep -xE "$CONTAINER_ID" || true; }
remove_services() { compose rm --stop --force "$@" >/dev/null 2>&1; } # [--volumes] SERVICES...
