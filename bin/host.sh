# What this host has. Source it after lib.sh. Facts come from the engine where it answers (its machine may be a VM),
# else from the host itself.
# shellcheck shell=bash

host_cpus() {
  docker info --format '{{.NCPU}}' 2>/dev/null | grep -E '^[1-9]' || getconf _NPROCESSORS_ONLN
}

host_memory_mb() {
  local bytes
  bytes=$(docker info --format '{{.MemTotal}}' 2>/dev/null | grep -E '^[1-9]' || true)
  if [ -n "$bytes" ]; then
    echo $((bytes / 1048576))
  elif is_linux; then
    awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo
  fi # elsewhere the engine's machine has it, and only the engine knows
}

# The hard limit of open files that a container's process gets: containerd's, which is a service of its own or dockerd's child.
# Nothing where the engine's machine is a virtual one.
host_open_files() {
  local pid
  pid=$(pgrep -xo containerd 2>/dev/null || pgrep -xo dockerd 2>/dev/null || true)
  if [ -n "$pid" ] && [ -r "/proc/$pid/limits" ]; then
    awk '/^Max open files/ { print $5 }' "/proc/$pid/limits"
  elif is_linux; then
    ulimit -Hn
  fi | sed 's/unlimited/1048576/'
}

host_port_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# service_runs NAME [all]: whether the lab's own container of that service is up; all: or just starting, or has ended.
service_runs() {
  [ -n "$(docker ps -q ${2:+--all} --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" \
    --filter "label=com.docker.compose.service=$1" 2>/dev/null)" ]
}

free_mb() { df -Pk "$1" 2>/dev/null | awk 'NR == 2 { print int($4 / 1024) }'; }

# check_ports [all]: as service_runs has it.
check_ports() {
  local service name
  while read -r service name; do
    if host_port_taken "${!name}" && ! service_runs "$service" ${1:+all}; then
      die "$HOST_CANNOT" "$name=${!name} is taken on 127.0.0.1 by another program: stop it, or use $name=$((${!name} + 1))."
    fi
  done <<'END'
prometheus PROMETHEUS_PORT
grafana GRAFANA_PORT
results RESULTS_PORT
END
}

writable() { # FOLDER
  local probe=$1/.writable-$$
  { mkdir -p "$1" && : >"$probe" && rm "$probe"; } 2>/dev/null
}

# check_checkout: what containers share of it can be read by their users, and what the lab writes can be written.
check_checkout() {
  local name hidden
  for name in "$LAB_ROOT" "$LAB_RESULTS"; do
    case $name in *:*) die "$HOST_CANNOT" "$name has a colon in its name, at which Docker splits a volume: move it." ;; esac
  done
  for name in "$LAB_RESULTS" "$LAB_ROOT/.cache"; do
    writable "$name" || die "$HOST_CANNOT" "${name##*/}/ cannot be written: make $name a writable folder."
  done
  writable "${TMPDIR:-/tmp}" || die "$HOST_CANNOT" "${TMPDIR:-/tmp} cannot be written: free some space there, or set TMPDIR to another folder."
  hidden=$(find "$LAB_ROOT/prometheus" "$LAB_ROOT/grafana" "$LAB_ROOT/loadgen/scenarios" ! -perm -004 2>/dev/null | sed -n 1p || true)
  [ -z "$hidden" ] ||
    die "$HOST_CANNOT" "$hidden cannot be read by the users of containers: run chmod -R go+rX $LAB_ROOT (a clone made under umask 077 needs it)."
}
