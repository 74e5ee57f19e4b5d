#!/usr/bin/env bats
# What doctor says of hosts of our making: every line is fine, a caveat or will not work, and none is broken.

# shellcheck disable=SC2030,SC2031,SC2317  # every test is a process; a script that ends is a source of functions here
load ../helpers

# engine_says KEY=VALUE...: an engine that answers so; what is not given is that of a plain Linux host.
engine_says() {
  local pair
  printf '%s\n' version=28.5.1 root=/var/lib/docker CPUs=8 bytes=25769803776 \
    'security=[name=seccomp,profile=builtin name=cgroupns]' cpuset=true cpus=true memory=true pids=true proxy= >"$BATS_TEST_TMPDIR/facts"
  echo 2.40.3 >"$BATS_TEST_TMPDIR/compose"
  echo v0.29.1 >"$BATS_TEST_TMPDIR/buildx"
  for pair in "$@"; do
    case ${pair%%=*} in
      compose | buildx) echo "${pair#*=}" >"$BATS_TEST_TMPDIR/${pair%%=*}" ;;
      *) sed -i.bak "s|^${pair%%=*}=.*|$pair|" "$BATS_TEST_TMPDIR/facts" ;;
    esac
  done
  stub docker "case \$* in
    'compose version --short') cat $BATS_TEST_TMPDIR/compose ;;
    'compose version') ;;
    'buildx version') echo github.com/docker/buildx \$(cat $BATS_TEST_TMPDIR/buildx) 257815a ;;
    'info --format version='*) cat $BATS_TEST_TMPDIR/facts ;;
    info) ;;
    'pull '*) echo \"\${PULL:-}\" >&2; [ -z \"\${PULL:-}\" ] ;;
    *) exit 1 ;;
    esac"
  unset HTTPS_PROXY https_proxy
  ask_engine
}

# host_has FILE TEXT: below the /proc and /sys of the host.
host_has() {
  mkdir -p "$(dirname "$HOST_ROOT/$1")"
  printf '%s\n' "$2" >"$HOST_ROOT/$1"
}

setup() {
  host_of 8 24000
  export HOST_ROOT=$BATS_TEST_TMPDIR/host PROMETHEUS_PORT=1 GRAFANA_PORT=2 RESULTS_PORT=3
  host_has proc/sys/vm/max_map_count 1048576
  host_has proc/sys/kernel/pid_max 4194304
  host_has proc/sys/kernel/threads-max 190000
  # shellcheck source=bin/doctor
  . "$LAB_ROOT/bin/doctor"
  load_env "$LAB_ROOT/.env"
}

# says CHECK LINES...: that check's output has a line that begins with each of these.
says() {
  local wanted
  output=$("$1") || true
  shift
  for wanted in "$@"; do
    grep -qE "^$wanted" <<<"$output" || { echo "no line '$wanted' in: $output"; return 1; }
  done
}

# nothing_broken OUTPUT: every line but those that tell what doctor does has a level, a name and words, and no value is missing before a unit or a colon.
nothing_broken() {
  local one
  while IFS= read -r one; do
    [[ $one == doctor:* ]] && continue
    [[ ${one:0:15} =~ ^(fine|caveat|will\ not\ work)\ +$ && ${one:15:17} =~ ^[A-Za-z] && ${one:33} =~ ^[^\ :] && ! ${one:33} =~ ^(MB|CPUs|descriptors) &&
      $one != *': :'* && $one != *[:\ ] ]] || { echo "broken: '$one'"; return 1; }
  done <<<"$1"
}

@test "a plain Linux host is fine in every line of engine, machine and limits" {
  engine_says
  local check
  for check in check_engine check_machine check_kernel_limits check_network; do
    output=$($check)
    nothing_broken "$output"
    [[ $check = check_kernel_limits || $output != *caveat* ]] || { echo "$output"; return 1; }
    [[ $output != *"will not work"* ]]
  done
}

@test "on macOS with the engine stopped no line is broken, and the memory is not known" {
  stub uname 'echo Darwin'
  stub docker 'exit 1'
  stub sysctl 'case $* in *nperflevels) echo 2 ;; esac'
  run "$LAB_ROOT/bin/doctor"
  [ "$status" -eq 3 ]
  grep -qE '^will not work  engine +none answers: start Docker' <<<"$output"
  grep -qE '^caveat +memory +not known: start the engine' <<<"$output"
  grep -qE '^caveat +hybrid cores ' <<<"$output"
  nothing_broken "$output"
}

@test "doctor comes to its end where /proc and /sys tell nothing, and no line is broken" {
  engine_says version= security=
  export HOST_ROOT=$BATS_TEST_TMPDIR/nothing PULL='no such host'
  run "$LAB_ROOT/bin/doctor"
  [[ $status -eq 3 || $status -eq 0 ]]
  nothing_broken "$output"
  grep -qE '^fine +governor +not reported' <<<"$output"
  grep -qE '^[a-z ]+ container metrics ' <<<"${lines[${#lines[@]} - 1]}"
}

@test "an engine or a Compose that is too old will not work, one that is just new enough is fine" {
  engine_says version=24.0.7 compose=2.24.3
  says check_engine "will not work  engine +24.0.7, but .* needs 25.0" "will not work  Compose +2.24.3, but .* needs 2.24.4"
  engine_says version=25.0.0 compose=v2.24.4
  says check_engine "fine +engine +25.0.0" "fine +Compose +v2.24.4"
  engine_says version=26.1.5+dfsg1 compose=2.26.1-4
  says check_engine "fine +engine +26.1.5" "fine +Compose +2.26.1-4"
  engine_says version=29.0.0-rc.1 compose=5.0.0
  says check_engine "fine +engine +29" "fine +Compose +5.0.0"
}

@test "a plugin that is missing will not work, with the package" {
  engine_says
  stub docker 'case $1 in info) ;; *) exit 1 ;; esac'
  says check_engine "will not work  Compose +none, .*docker-compose-plugin" "will not work  Buildx +none, .*docker-buildx-plugin"
}

@test "a Buildx that is too old for its Compose will not work" {
  engine_says compose=2.37.0 buildx=v0.16.2
  says check_engine "will not work  Buildx +v0.16.2, but .* needs 0.17"
  engine_says compose=2.37.0 buildx=v0.17.0
  says check_engine "fine +Buildx +v0.17.0"
  engine_says compose=2.26.1-4 buildx=0.13.1+ds1
  says check_engine "fine +Buildx +0.13.1"
}

# loopback VERSION YES_OR_NO: whether an engine of that version is told to open ports on 127.0.0.1.
loopback() {
  engine_says version="$1"
  output=$(check_engine)
  [ "$(grep -cE '^caveat +loopback +.*iptables -t raw -I PREROUTING -d 127.0.0.0/8 ! -i lo -j DROP$' <<<"$output")" -eq "$2" ] ||
    { echo "$1: $output"; return 1; }
}

@test "an engine that lets neighbours reach ports on 127.0.0.1 is a caveat with the rule, until the host has that" {
  stub iptables 'exit 1'
  loopback 27.5.1 1
  loopback 28.0.0 0
  loopback 28.3.1 0
  stub pgrep '[ "$2" = firewalld ]'
  loopback 28.1.1 0
  loopback 28.3.1 1
  loopback 28.3.3 0
  stub iptables '[ "$*" = "-t raw -C PREROUTING -d 127.0.0.0/8 ! -i lo -j DROP" ]'
  loopback 27.5.1 0
}

@test "an engine that confines or remaps containers will not work, with the cure" {
  engine_says 'security=[name=seccomp,profile=builtin name=selinux name=userns name=cgroupns]'
  says check_engine "will not work  SELinux +.*daemon.json" "will not work  userns-remap +.*daemon.json"
}

@test "what the engine does not tell is not known, and no line is broken" {
  engine_says version= security=
  says check_engine "caveat +engine +its version is not known"
  nothing_broken "$output"
}

@test "a rootless engine without delegated controllers will not work, with the cure" {
  engine_says 'security=[name=seccomp,profile=builtin name=rootless name=cgroupns]' cpuset=false cpus=false
  says check_engine "caveat +rootless" "will not work  limits +the engine cannot set cpuset cpus: .*delegate"
}

@test "few kernel limits, few descriptors: the caveat says what a run of 10,000 connections gets" {
  engine_says
  host_has proc/sys/vm/max_map_count 16000
  says check_kernel_limits "caveat +threads +8000 at most: raise .*10,000 platform threads" \
    "caveat +open files +CONCURRENCY=10000 needs 20500: .*suspect"
}

@test "governor, hybrid cores and SMT on two CPUs are caveats" {
  engine_says CPUs=2
  host_has sys/devices/system/cpu/cpu0/cpufreq/scaling_governor powersave
  host_has sys/devices/system/cpu/smt/active 1
  host_has sys/devices/system/cpu/cpu0/cpu_capacity 1024
  host_has sys/devices/system/cpu/cpu1/cpu_capacity 430
  says check_machine "caveat +governor +powersave: .*cpupower" "caveat +SMT" "caveat +hybrid cores"
  nothing_broken "$output"
}

@test "hardware threads on a number of CPUs that leaves no whole cores are a caveat" {
  engine_says CPUs=6
  host_has sys/devices/system/cpu/smt/active 1
  says check_machine "caveat +SMT +on, with 6 CPUs, no multiple of four"
  engine_says CPUs=8
  says check_machine "fine +SMT +on: SIZE=auto gives out whole cores"
}

@test "Docker Desktop's own proxy is none" {
  engine_says proxy=http.docker.internal:3128
  says check_network "fine +proxy +none"
  engine_says proxy=http://proxy.example.org:3128
  says check_network "caveat +proxy +set"
}

@test "room for images is asked of the engine's disk, and is not known where that is another machine's" {
  engine_says root="$BATS_TEST_TMPDIR"
  stub df "printf 'Filesystem 1024-blocks Used Available Capacity Mounted\\nx 1 1 %s 1%% /\\n' \"\$(case \$2 in ($BATS_TEST_TMPDIR) echo 1024000 ;; (*) echo 9024000 ;; esac)\""
  says check_disk "will not work  disk +1000 MB free, but the lab needs 8000: free some in $BATS_TEST_TMPDIR" "fine +disk, results +8812 MB free"
  engine_says root=/only/in/its/machine
  says check_disk "caveat +disk +that of the engine's machine is not known"
  nothing_broken "$output"
}

@test "too few CPUs and too little memory will not work" {
  engine_says CPUs=1 bytes=2000000000
  says check_machine "will not work  CPUs +1 CPUs, but the lab needs 2: .*use a larger host" "will not work  memory +1907 MB, but the lab needs 5500"
}

@test "a registry that limits pulls is told from none, and does not lead to stand-ins" {
  engine_says
  export PULL='Error response from daemon: toomanyrequests: You have reached your unauthenticated pull rate limit.'
  stub id 'echo 0'
  stub apt-get 'exit 0'
  stub debootstrap 'exit 1'
  # shellcheck disable=SC2329  # check_images asks them
  on_stand_ins() { false; }
  says check_images "will not work  registry +it limits how often images are pulled: docker login"
  PULL='Error response from daemon: Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host'
  [ "$(registry)" = none ]
  # shellcheck disable=SC2329
  can_build_stand_ins() { false; }
  says check_images "will not work  registry +none answers: connect to one"
  # shellcheck disable=SC2329
  can_build_stand_ins() { true; }
  says check_images "caveat +registry +none answers: base images are built from Debian's packages"
}

@test "prepare refuses a limited registry, whoever the user is, and selects nothing" {
  local copy=$BATS_TEST_TMPDIR/lab
  mkdir -p "$copy"
  cp -R "$LAB_ROOT/bin" "$LAB_ROOT/airgap" "$LAB_ROOT/.env" "$LAB_ROOT/compose.yaml" "$copy/"
  mkdir "$copy/services" "$copy/database" "$copy/loadgen"
  engine_says
  export PULL='toomanyrequests: retry-after: 500ms'
  stub id 'echo 0'
  stub debootstrap 'touch '"$BATS_TEST_TMPDIR/built"
  run "$copy/bin/prepare" loadgen
  refused 3 "limits how often images are pulled" "docker login"
  [ ! -e "$copy/compose.stand-ins.yaml" ] && [ ! -e "$BATS_TEST_TMPDIR/built" ]
}

@test "a build that made no archive of classes says so" {
  local copy=$BATS_TEST_TMPDIR/lab
  mkdir -p "$copy/services" "$copy/database" "$copy/loadgen"
  cp -R "$LAB_ROOT/bin" "$LAB_ROOT/.env" "$LAB_ROOT/compose.yaml" "$copy/"
  stub docker 'case $* in *" build "*) echo "#31 9.1 There is no archive of classes, so the service starts without one:" ;; esac'
  LAB_LOCK=ours run "$copy/bin/prepare" tomcat-virtual
  [ "$status" -eq 0 ] && [[ $output == *"There is no archive of classes"* ]] || { echo "$output"; return 1; }
}

@test "a build whose base image is gone names the tag to try" {
  local copy=$BATS_TEST_TMPDIR/lab
  mkdir -p "$copy/services" "$copy/database" "$copy/loadgen"
  cp -R "$LAB_ROOT/bin" "$LAB_ROOT/.env" "$LAB_ROOT/compose.yaml" "$copy/"
  stub docker 'case $* in *" build "*) echo "ERROR: failed to solve: python:3.13.0-slim: failed to resolve source metadata for" \
    "docker.io/library/python:3.13.0-slim: docker.io/library/python:3.13.0-slim: not found" && exit 1 ;; esac'
  LAB_LOCK=ours run "$copy/bin/prepare" loadgen
  [ "$status" -eq 3 ] && [[ $output == *"lacks python:3.13.0-slim: "*"python:3.13-slim"* ]] || { echo "$output"; return 1; }
}

@test "what prepare built of all is not built again for one" {
  local copy=$BATS_TEST_TMPDIR/lab
  mkdir -p "$copy/services" "$copy/database" "$copy/loadgen"
  cp -R "$LAB_ROOT/bin" "$LAB_ROOT/.env" "$LAB_ROOT/compose.yaml" "$copy/"
  stub docker "case \$* in *' build'*) echo built >>$copy/builds ;; *' loom-lab/'*) printf 'sha256:%064d\n' 1 ;; esac"
  LAB_LOCK=ours "$copy/bin/prepare"
  LAB_LOCK=ours "$copy/bin/prepare" backend tomcat-virtual loadgen
  [ "$(wc -l <"$copy/builds")" -eq 1 ]
}

# metrics_end CODE WAY SENTENCE: check_metrics where bin/metrics ends so, having found that way.
metrics_end() {
  local lab=$BATS_TEST_TMPDIR/of-metrics
  mkdir -p "$lab/bin" "$lab/.cache"
  printf '#!/bin/sh\nexit 0\n' >"$lab/bin/prepare"
  printf '#!/bin/sh\necho "%s" >&2\nexit %s\n' "$3" "$1" >"$lab/bin/metrics"
  chmod +x "$lab/bin/prepare" "$lab/bin/metrics"
  printf 'CONTAINER_METRICS=%s\nCADVISOR_FAILED=%s\n' "$2" "The page does not know this container" >"$lab/.cache/container-metrics"
  registry() { echo here; }
  image_id() { echo sha256:1; }
  LAB_ROOT=$lab METRICS_FOUND=$lab/.cache/container-metrics check_metrics >"$BATS_TEST_TMPDIR/said"
  output=$(cat "$BATS_TEST_TMPDIR/said")
}

@test "the probe's line is fine by cAdvisor, a caveat by the exporter, and will not work where nothing arrives" {
  engine_says
  metrics_end 0 cadvisor ""
  [[ $output == "fine           container metrics CPU, RSS and threads arrive from cAdvisor" ]] || { echo "$output"; return 1; }
  metrics_end 0 engine "container metrics come from ..."
  [[ $output == "caveat         container metrics not from cAdvisor (The page does not know this container)"*exporter* ]]
  [ "$CODE" -eq 0 ]
  metrics_end 3 "" "loom-lab: CPU, RSS and threads of containers do not arrive from cadvisor (x): docs/how-to/hosts.md lists the cures."
  [[ $output == "will not work  container metrics"*"docs/how-to/hosts.md"* ]]
  [ "$CODE" -eq 3 ]
}

@test "while a run has the engine the probe is put off, which is no failure" {
  engine_says
  metrics_end 3 "" "loom-lab: the engine is in use by /lab (make run-ab), process 7: wait for it."
  [[ $output == "caveat         container metrics not proven"*"process 7"* ]]
  [ "$CODE" -eq 0 ]
}

@test "of a swarm each role has one node, which is ready, and all nodes are of one architecture" {
  . "$LAB_ROOT/bin/swarm_lab.sh"
  export MANAGER=true BACKEND="b Ready Active" KINDS=x86_64
  stub docker 'case $* in
    *ControlAvailable*) echo $MANAGER ;;
    *role=approach*) echo "a Ready Active" ;;
    *role=backend*) [ -z "$BACKEND" ] || echo "$BACKEND" ;;
    *role=monitor*) echo "m Ready Active" ;;
    *"node inspect"*) printf "%s\n" $KINDS ;;
    esac'
  run check_containers
  [ "$(grep -c "^fine " <<<"$output")" -eq 4 ] || { echo "$output"; return 1; }
  BACKEND="" run check_containers
  [[ $output == *"will not work  role backend      no node has it: "*loom-lab.role=backend* ]] || { echo "$output"; return 1; }
  BACKEND="b Down Active" run check_containers
  [[ $output == *"will not work  role backend      b Down Active: "* ]]
  BACKEND=$'b Ready Active\nc Ready Active' run check_containers
  [[ $output == *"will not work  role backend      b Ready Active, c Ready Active: "* ]]
  BACKEND="b Ready Active itself" run check_containers
  [[ $output == *"caveat         role backend      b, which is this host: "*"use another node"* ]]
  KINDS="aarch64 x86_64" run check_containers
  [[ $output == *"will not work  architectures     aarch64 x86_64: "* ]]
  MANAGER=false run check_containers
  [[ $output == "will not work  swarm "*"docker swarm init"* ]]
}

# nodes_tell SAID: what check_nodes makes of that, where an exporter is up.
nodes_tell() {
  . "$LAB_ROOT/bin/swarm_lab.sh"
  stub docker 'exit 1'
  SAID=$1
  services_up() { echo cadvisor; }
  of_nodes() { echo "$SAID" && [[ $SAID == *$'\t'* ]]; }
  output=$(check_nodes)
}

@test "of what is said while a swarm's nodes are asked, only findings are told" {
  nodes_tell $' Container loom-lab-loadgen-run-1 Creating\nfine\tnode b\tkernel 6.1\nfails\timages b\tthis is missing\trun this'
  [ "$output" = $'fine           node b            kernel 6.1\nwill not work  images b          this is missing: run this' ] ||
    { echo "$output"; return 1; }
  nodes_tell 'could not start cadvisor: b "No such image"; make doctor LAB=swarm tells what nodes lack'
  [[ $output == 'will not work  nodes             could not start cadvisor: b "No such image": each needs '* ]] || { echo "$output"; return 1; }
}
