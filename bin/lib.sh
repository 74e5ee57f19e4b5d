# What the host scripts share. Source it after `set -euo pipefail`; written for bash 3.2 and later.
# shellcheck shell=bash

unset CDPATH DOCKER_DEFAULT_PLATFORM # images are of the engine's own architecture
umask go+rx                          # containers read results/ as other users
LAB_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
export COMPOSE_PROJECT_NAME=loom-lab # prometheus.yml keeps the containers of this project
METRICS_FOUND=$LAB_ROOT/.cache/container-metrics OVERLAY=$LAB_ROOT/.cache/experiment.yaml
SCRAPED=$LAB_ROOT/prometheus/targets/subject.json # of a service of the user's, for Prometheus
# Written by airgap/build; Compose itself finds it by the link, which it takes where there is no compose.override.yaml.
STAND_INS=$LAB_ROOT/compose.stand-ins.yaml STAND_INS_LINK=$LAB_ROOT/docker-compose.override.yaml
# For iptables: before Docker 28, neighbours of a host reach ports that it publishes on 127.0.0.1.
LOOPBACK_RULE=(PREROUTING -d 127.0.0.0/8 ! -i lo -j DROP)
export LAB_RESULTS=${LAB_RESULTS:-$LAB_ROOT/results} # the lab's own tests have a folder of theirs
[[ $LAB_RESULTS == /* ]] || LAB_RESULTS=$LAB_ROOT/$LAB_RESULTS
HOST_ROOT=${HOST_ROOT:-} # of /etc, /proc and /sys; tests have their own
RUN_INVALID=1 BAD_REQUEST=2 HOST_CANNOT=3 LAB_FAILED=4 UNRESOLVED=5 INTERRUPTED=130
WORD='[A-Za-z0-9][A-Za-z0-9._-]{0,199}' CONTAINER_ID='[0-9a-f]{12,64}'

say() { printf '%s\n' "$*" >&2; }
# die CODE WORDS...: one line that names the value and the cure, then exit with CODE (design: 2 bad request, 3 host cannot).
die() {
  printf 'loom-lab: %s\n' "${*:2}" >&2
  exit "$1"
}

# load_env FILE [PATTERN]: sets each KEY=VALUE, if the key matches, that the environment does not set already, as Compose does.
load_env() {
  local key value
  while IFS='=' read -r key value || [ -n "$key" ]; do
    case $value in \"*\" | \'*\') value=${value:1:${#value}-2} ;; esac
    # shellcheck disable=SC2053  # a pattern
    [[ ! $key =~ ^[A-Z][A-Z0-9_]*$ || $key != ${2:-*} || -n ${!key:-} ]] || export "$key=$value"
  done <"$1"
}

use_base_images() { # exports the names of those that builds start from: the stand-ins where they are selected, else .env's
  ! on_stand_ins || load_env "$LAB_ROOT/airgap/airgap.env" '*_IMAGE'
  load_env "$LAB_ROOT/.env" '*_IMAGE'
}

# compose ARGUMENTS...: on the lab, with the stand-ins if they are selected, the user's changes, and what bin/metrics found.
compose() (
  overlay=$([ ! -e "$OVERLAY" ] || echo ":$OVERLAY") own=$LAB_ROOT/compose.override.yaml
  files=${COMPOSE_FILE:-$LAB_ROOT/compose.yaml$(! on_stand_ins || echo ":$STAND_INS")}$overlay
  [ -n "${COMPOSE_FILE:-}" ] || [ ! -e "$own" ] || files=$files:$own
  [ ! -e "$METRICS_FOUND" ] || load_env "$METRICS_FOUND" 'ENGINE_*'
  COMPOSE_FILE=$files$(files_of_lab) docker compose --project-directory "$LAB_ROOT" "$@"
)

in_loadgen() { LAB_USER=$(lab_user) compose run --no-deps "$@"; }

approaches() { # [PROFILE]: the services of compose.yaml in that profile, by default of all approaches
  awk -v profile="${1:-all}" '/^  [a-z0-9-]+:$/ { name = substr($1, 1, length($1) - 1) }
    /^    profiles: \[/ && $0 ~ "[[ ]" profile "[],]" { print name }' "$LAB_ROOT/compose.yaml"
}

image_id() { # SERVICE
  docker image inspect --format '{{.Id}}' "loom-lab/$1$([[ $1 =~ ^(loadgen|database)$ ]] || echo ":jdk$JDK")" 2>/dev/null |
    grep -xE "sha256:$CONTAINER_ID" || true
}

# lab_user: whom containers write results/ as. A rootless engine, and Docker Desktop's machine on Linux, show this user as root.
lab_user() {
  case $(docker info --format '{{.SecurityOptions}} {{.OperatingSystem}}' 2>/dev/null)$(is_wsl || uname -s) in
    *name=rootless* | *"Docker DesktopLinux") echo 0:0 ;;
    *) echo "$(id -u):$(id -g)" ;;
  esac
}

# confined MEMORY OPTIONS...: `docker run` of what reads files that others may have written: without network, rights and swap.
confined() {
  docker run --rm --network none --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --pids-limit 256 \
    --memory "$1" --memory-swap "$1" "${@:2}"
}

# loomlab [OPTIONS...] -- ARGUMENTS...: with half of the engine's memory or 2 GiB; LAB_FAILED where it gives no exit code of the lab's.
loomlab() {
  local options=() code=0 memory part
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  for part in compose.yaml .env services database loadgen sizes; do options+=(--volume "$LAB_ROOT/$part:/lab/$part:ro"); done
  # Under sudo, root reads and writes files of the user.
  [[ -O $LAB_ROOT && -O $LAB_RESULTS ]] || options+=(--cap-add DAC_OVERRIDE)
  memory=$(docker info --format '{{.MemTotal}}' 2>/dev/null | grep -xE '[0-9]{10,16}' || true)
  memory=$((memory / 2 > 2 << 30 ? memory / 2 : 2 << 30))
  confined "$memory" --label loom-lab.experiment="${LAB_EXPERIMENT:-}" --user "$(lab_user)" --env COLUMNS="${COLUMNS:-120}" \
    "${options[@]}" --volume "$LAB_RESULTS:/results" --volume "$LAB_ROOT/loadgen/scenarios:/scenarios:ro" loom-lab/loadgen \
    "${@:2}" || code=$?
  case $code in 0 | "$RUN_INVALID" | "$BAD_REQUEST" | "$HOST_CANNOT" | "$UNRESOLVED" | "$INTERRUPTED") ;; *) code=$LAB_FAILED ;; esac
  return $code
}

older() { # VERSION THAN: by the first three numbers
  [ "$(printf '%s\n' "$2" "${1#v}" | sed 's/[-+~].*//' | sort -t. -k1,1n -k2,2n -k3,3n | sed -n 1p)" != "$2" ]
}

is_linux() { [ "$(uname -s)" = Linux ]; }
is_root() { [ "$(id -u)" -eq 0 ]; }
is_wsl() { grep -qi microsoft "$HOST_ROOT/proc/version" 2>/dev/null; }
is_debian() { grep -qx 'ID="\{0,1\}debian"\{0,1\}' "$HOST_ROOT/etc/os-release" 2>/dev/null && command -v apt-get >/dev/null; }
# Debian's package enables its service where no systemd runs, too.
docker_is_a_service() { systemctl is-active --quiet basic.target 2>/dev/null && systemctl is-enabled docker >/dev/null 2>&1; }
can_start_engine() { is_linux && is_root && is_debian && ! docker_is_a_service; }
can_build_stand_ins() { is_root && is_debian && command -v debootstrap >/dev/null; }
engine_answers() { docker info >/dev/null 2>&1; }
on_stand_ins() { [ -e "$STAND_INS" ]; }

tag_to_try() { # IMAGE: with the tag that a registry moves along with newer versions
  sed -E -e 's/(eclipse-temurin:[0-9]+)\.[0-9._]+/\1/' -e t -e 's/(:[0-9.]+)\.[0-9]+([^/]*)$/\1\2/' -e t -e 's/[:@][^/]*$/:latest/' <<<"$1"
}

registry() { # `here`, `limited` if it was asked too often, `none` if none answers, else `failed:` and what the engine said
  local said
  ! docker image inspect "$PROMETHEUS_IMAGE" >/dev/null 2>&1 || { echo here && return; }
  ! said=$(docker pull --quiet "$PROMETHEUS_IMAGE" 2>&1) || { echo here && return; }
  case $said in
    *toomanyrequests* | *"429 Too Many Requests"* | *"rate limit"*) echo limited ;;
    *"no such host"* | *"server misbehaving"* | *"name resolution"* | *"connection refused"* | *"is unreachable"*) echo none ;;
    *"no route to host"* | *[Tt]imeout* | *"deadline exceeded"*) echo none ;;
    *"manifest unknown"* | *": not found"*)
      echo "failed: the registry lacks that tag; try PROMETHEUS_IMAGE=$(tag_to_try "$PROMETHEUS_IMAGE")"
      ;;
    *) echo "failed: ${said##*$'\n'}" ;;
  esac
}

debian_mirror() ( # the first that apt knows, Debian's own files before others'; nothing where it knows none
  cd "$HOST_ROOT/etc/apt" 2>/dev/null || exit 0
  cat sources.list sources.list.d/debian.sources mirrors/debian.list sources.list.d/* 2>/dev/null |
    sed -nE 's#^(URIs: |deb (\[[^]]*\] )?)?(https?://[^ ]+/debian)/?([[:space:]].*)?$#\3#p' | sed -n 1p || true
)

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; } # PORT
port_names() { printf '%s_PORT\n' "$@" | tr '[:lower:]-' '[:upper:]_'; } # SERVICES...

taken_ports() { # [--all] [APPROACHES...]: the variables of those ports of monitoring and of these that other programs hold
  local name names up all=""
  [ "${1:-}" != --all ] || { all=$1 && shift; }
  names=$(port_names prometheus grafana results "$@")
  up=$(services_up ${all:+"$all"} | tr '[:lower:]-' '[:upper:]_')
  name=$(for name in $names; do echo "$name=${!name}"; done |
    awk -F= '$2 !~ /^[1-9][0-9]*$/ || $2 > 65535 || seen[$2]++' | sed -n 1p)
  [ -z "$name" ] || die "$BAD_REQUEST" "$name is no port, or another service's: use different ones, from 1 to 65535."
  for name in $names; do ! listens "${!name}" || grep -qx "${name%_PORT}" <<<"$up" || echo "$name"; done
}

check_ports() { # [--all] [APPROACHES...]
  local taken
  taken=$(taken_ports "$@" | sed -n 1p) || exit
  [ -z "$taken" ] || die "$HOST_CANNOT" "$taken=${!taken} is taken by another program: stop it, or use $taken=$((${!taken} + 1))."
}

check_checkout() { # what the lab writes can be written, and what containers share of it can be read by their users
  local folder hidden
  [[ $LAB_ROOT$LAB_RESULTS != *:* ]] ||
    die "$HOST_CANNOT" "$LAB_ROOT or $LAB_RESULTS has a colon in its name, at which Docker splits a volume: move it."
  for folder in "$LAB_RESULTS" "$LAB_ROOT/.cache" "${TMPDIR:-/tmp}"; do
    { mkdir -p "$folder" && : >"$folder/.writable-$$" && rm "$folder/.writable-$$"; } 2>/dev/null ||
      die "$HOST_CANNOT" "$folder cannot be written: give it room and rights (LAB_RESULTS and TMPDIR name other folders)."
  done
  hidden=$(find "$LAB_ROOT"/{prometheus,grafana,loadgen/scenarios} ! -perm -004 2>/dev/null || true)
  hidden=${hidden:-$(find "$LAB_RESULTS/" -maxdepth 0 ! -perm -005)}
  [ -z "$hidden" ] || die "$HOST_CANNOT" "${hidden%%$'\n'*} cannot be read by users of containers: run chmod -R go+rX" \
    "$LAB_ROOT $LAB_RESULTS."
}

[[ ${LAB:=compose} =~ ^(compose|swarm)$ ]] || die "$BAD_REQUEST" "LAB=$LAB is neither compose nor swarm: use one of them."
# shellcheck source=bin/compose_lab.sh
. "$LAB_ROOT/bin/${LAB}_lab.sh"
. "$LAB_ROOT/bin/lock.sh"
