#!/usr/bin/env bats
# Engines of several kinds: how the lab starts one, who its containers are there, and what a failed pull means.

# shellcheck disable=SC2030,SC2031  # every test is a process
load ../helpers

setup() {
  export HOST_ROOT=$BATS_TEST_TMPDIR/host PROMETHEUS_IMAGE=prom/prometheus:v0
  mkdir -p "$HOST_ROOT/etc/apt/sources.list.d" "$HOST_ROOT/proc"
  stub id 'case $1 in -u) echo 1000 ;; -g) echo 1001 ;; *) echo nobody ;; esac'
  stub uname 'echo Linux'
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
}

debian_host() {
  echo "ID=${1:-debian}" >"$HOST_ROOT/etc/os-release"
  stub id 'case $1 in -u | -g) echo 0 ;; *) echo root ;; esac'
}

@test "a bare host with systemd starts the service that its packages brought, no second engine, and closes loopback ports" {
  debian_host
  echo 'deb http://mirror.example.net/debian bookworm main' >"$HOST_ROOT/etc/apt/sources.list"
  local here=$BATS_TEST_TMPDIR
  stub docker "[ -e $here/running ]"
  stub systemctl "case \$* in
    'is-active --quiet basic.target') ;;
    'is-enabled docker') [ -e $here/installed ] ;;
    'start docker') touch $here/running ;;
    esac"
  stub dockerd "touch $here/second"
  stub debootstrap 'exit 0'
  stub iptables "case \$* in *-C*) exit 1 ;; *) echo \$* >$here/rule ;; esac"
  mkdir -p "$here/lab/bin"
  sed "s|/etc/apt/|$HOST_ROOT/etc/apt/|; s|/var/log/|$here/|" "$LAB_ROOT/bin/engine" >"$here/lab/bin/engine"
  mkdir -p "$HOST_ROOT/etc/apt/preferences.d"
  stub apt-get "case \$* in *docker.io*) touch $here/installed ;; esac"
  cp "$LAB_ROOT"/bin/*.sh "$here/lab/bin"

  run bash "$here/lab/bin/engine" start

  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ $output == *"'systemctl stop docker' stops it"* ]]
  [ -e "$here/installed" ]
  [ -e "$here/running" ]
  [ ! -e "$here/second" ]
  [ "$(cat "$here/rule")" = "-t raw -I PREROUTING -d 127.0.0.0/8 ! -i lo -j DROP" ]
}

@test "only a Debian host that has no engine of its own is promised one" {
  debian_host
  stub apt-get 'exit 0'
  stub systemctl 'exit 1'
  can_start_engine
  stub systemctl 'exit 0'
  run can_start_engine
  [ "$status" -ne 0 ]
  stub systemctl 'exit 1'
  debian_host ubuntu
  run can_start_engine
  [ "$status" -ne 0 ]
}

# mirror_is EXPECTED: of the files below the host's /etc/apt.
mirror_is() { [ "$(debian_mirror)" = "$1" ] || { echo "$(debian_mirror), not $1"; return 1; }; }

@test "the Debian mirror is found where Debian's images keep it, before others' repositories" {
  local apt=$HOST_ROOT/etc/apt
  mirror_is ""
  printf 'Types: deb\nURIs: https://dl.example.org/caddy/deb/debian\n' >"$apt/sources.list.d/caddy.sources"
  mirror_is https://dl.example.org/caddy/deb/debian
  mkdir "$apt/mirrors"
  echo https://mirror.example.net/debian >"$apt/mirrors/debian.list"
  printf 'Types: deb\nURIs: mirror+file:///etc/apt/mirrors/debian.list\n' >"$apt/sources.list.d/debian.sources"
  mirror_is https://mirror.example.net/debian
  printf '# deb http://old.example.org/debian x\ndeb [signed-by=/k.gpg] http://mirror.example.org/debian/ bookworm main\n' >"$apt/sources.list"
  mirror_is http://mirror.example.org/debian
}

# user_is EXPECTED SECURITY SYSTEM: of an engine that tells these.
user_is() {
  stub docker "echo '$2 $3'"
  [ "$(lab_user)" = "$1" ] || { echo "$(lab_user), not $1, on '$2 $3'"; return 1; }
}

@test "containers write results as this user, whom a rootless engine and Docker Desktop on Linux show as root" {
  user_is 1000:1001 '[name=seccomp,profile=builtin name=cgroupns]' 'Debian GNU/Linux 13'
  user_is 0:0 '[name=seccomp,profile=builtin name=rootless name=cgroupns]' 'Debian GNU/Linux 13'
  user_is 0:0 '[name=seccomp,profile=unconfined]' 'Docker Desktop'
  echo 'Linux version 6.6.87.2-microsoft-standard-WSL2' >"$HOST_ROOT/proc/version"
  user_is 1000:1001 '[name=seccomp,profile=unconfined]' 'Docker Desktop'
  rm "$HOST_ROOT/proc/version"
  stub uname 'echo Darwin'
  user_is 1000:1001 '[name=seccomp,profile=unconfined]' 'Docker Desktop'
}

# registry_is EXPECTED SAID: where a pull fails so.
registry_is() {
  stub docker "case \$1 in pull) echo '$2' >&2 ;; esac; exit 1"
  [ "$(registry)" = "$1" ] || { echo "$(registry), not $1"; return 1; }
}

@test "only a registry that cannot be reached counts as none; any other failure is told" {
  registry_is none 'Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host'
  registry_is none 'Get "https://registry-1.docker.io/v2/": net/http: request canceled (Client.Timeout exceeded)'
  registry_is none 'Get "https://registry-1.docker.io/v2/": dial tcp 1.2.3.4:443: connect: connection refused'
  registry_is limited 'toomanyrequests: You have reached your unauthenticated pull rate limit.'
  registry_is 'failed: the registry lacks that tag; try PROMETHEUS_IMAGE=prom/prometheus:latest' \
    'Error response from daemon: manifest for prom/prometheus:v0 not found: manifest unknown: manifest unknown'
  registry_is 'failed: write /var/lib/docker/tmp/x: no space left on device' 'write /var/lib/docker/tmp/x: no space left on device'
  registry_is 'failed: tls: failed to verify certificate: x509: certificate signed by unknown authority' \
    'tls: failed to verify certificate: x509: certificate signed by unknown authority'
}

@test "of an image that is gone, the tag that moves along is named" {
  local image
  [ "$(while read -r image; do tag_to_try "$image"; done <<'END'
eclipse-temurin:25.0.4.1_1-jre-noble
maven:3.9.16-eclipse-temurin-25
python:3.13.16-slim-trixie
postgres:17.7-trixie
grafana/grafana:13.2.3
mirror:5000/prom/prometheus:v3.13.5
END
  )" = "eclipse-temurin:25-jre-noble
maven:3.9-eclipse-temurin-25
python:3.13-slim-trixie
postgres:17-trixie
grafana/grafana:13.2
mirror:5000/prom/prometheus:latest" ]
}

@test "neither CDPATH nor another platform of the environment reaches the lab" {
  mkdir -p "$BATS_TEST_TMPDIR/elsewhere/bin"
  cd "$LAB_ROOT"
  CDPATH=$BATS_TEST_TMPDIR/elsewhere DOCKER_DEFAULT_PLATFORM=linux/s390x run bash -c '. bin/lib.sh && echo "$LAB_ROOT ${DOCKER_DEFAULT_PLATFORM:-none}"'
  [ "$output" = "$(pwd -P) none" ] || { echo "$output"; return 1; }
}

@test "a checkout with Windows' settings of Git has scripts that bash can read" {
  mkdir "$BATS_TEST_TMPDIR/checkout"
  cd "$BATS_TEST_TMPDIR/checkout"
  git init --quiet
  git config core.autocrlf true
  cp -R "$LAB_ROOT/bin" "$LAB_ROOT/.gitattributes" .
  git add bin
  rm -r bin
  git checkout-index --all
  run grep -rl $'\r' bin
  [ "$status" -eq 1 ]
}

@test "loomlab gives its program's exit code, and 4 where that did not come to one of the lab's" {
  local pair
  for pair in 0:0 1:1 2:2 3:3 4:4 125:4 130:130 137:4; do
    stub docker "[ \$1 != run ] || exit ${pair%:*}"
    run loomlab -- judge
    [ "$status" -eq "${pair#*:}" ] || { echo "exit $status, not $pair"; return 1; }
  done
}
