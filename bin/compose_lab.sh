# A lab on one engine, by Compose: what bin/swarm_lab.sh has for several. lib.sh sources it.
# shellcheck shell=bash

# By which way they come, as bin/metrics found or the user wants it; nothing before it was asked.
container_metrics() { echo "${CONTAINER_METRICS:-$(sed -n 's/^CONTAINER_METRICS=//p' "$METRICS_FOUND" 2>/dev/null)}"; }
find_metrics() { "$LAB_ROOT/bin/metrics"; }
files_of_lab() { # what Compose reads last
  case $(container_metrics) in
    cadvisor) echo ":$LAB_ROOT/compose.kmsg.yaml" ;;
    engine) echo ":$LAB_ROOT/compose.engine.yaml" ;;
  esac
}

check_lab() { :; } # [SERVICES...]: refuses an engine that has no such lab, and services that this lab cannot start
start_services() { # [--wait] SERVICES...
  local said
  said=$(compose up --detach --wait-timeout=200 "$@" 2>&1) ||
    { say "could not start ${*#--wait}: ${said##*$'\n'}" && return 1; }
}

services_up() { # [--all]: those of the lab's containers that run; --all: or that are just starting, or have ended
  docker ps "$@" --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" \
    --format '{{.Label "com.docker.compose.service"}}' 2>/dev/null | grep -xE "$WORD" || true
}

address_of() { echo "http://127.0.0.1:$2"; } # SERVICE PORT
containers_of() { compose ps --all --quiet "$@" 2>/dev/null | grep -xE "$CONTAINER_ID" || true; }
stop_services() { compose stop --timeout 5 "$@" >/dev/null 2>&1; }
remove_services() { compose rm --stop --force "$@" >/dev/null 2>&1; } # [--volumes] SERVICES...
remove_containers() { docker rm --force --volumes "$@" >/dev/null 2>&1 || true; }
remove_networks() { docker network rm "${COMPOSE_PROJECT_NAME}"_{under_load,monitoring} >/dev/null 2>&1 || true; }
remove_lab() { compose --profile '*' down --remove-orphans "$@"; } # [--volumes]

log_of() { docker logs "$1"; }
# Without the environment, in which a service of the user's may have secrets.
inspected() {
  docker inspect --format '[{"Image": {{json .Image}}, "RestartCount": {{.RestartCount}}, "State": {"Running": {{.State.Running}},
  "OOMKilled": {{.State.OOMKilled}}, "ExitCode": {{.State.ExitCode}}, "StartedAt": {{json .State.StartedAt}},
  "FinishedAt": {{json .State.FinishedAt}}}, "HostConfig": {"Memory": {{.HostConfig.Memory}}, "MemorySwap": {{.HostConfig.MemorySwap}},
  "CpusetCpus": {{json .HostConfig.CpusetCpus}}, "PidsLimit": {{json .HostConfig.PidsLimit}}}}]' "$1"
}
left_behind() { containers_here; }
check_containers() { check_metrics; } # of bin/doctor
nodes_of_lab() { :; }
