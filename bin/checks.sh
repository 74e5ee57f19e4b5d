# The checks of `make doctor`. Source it after lib.sh and host.sh. Each prints one line, or one for each thing it finds:
# `fine`, `caveat` (a run works; what its verdict says of it, and the cure) or `will not work` (with the cure), which ends in
# FOUND=$HOST_CANNOT. What cannot be known is a caveat, never an empty value.
# shellcheck shell=bash

MIN_ENGINE=25.0 MIN_COMPOSE=2.24.4
MIN_CPUS=2 MIN_MEMORY_MB=5500 MIN_FILES=4096 FLAGSHIP_FILES=20500 FLAGSHIP_THREADS=12000 MIN_DISK_MB=8000 MIN_RESULTS_MB=1000
SUSPECT_STEAL=5 INVALID_STEAL=20 STEAL_SECONDS=2 # per cent, as the verdict has them; how long it is looked at
ROOT=${HOST_ROOT:-}             # of /proc and /sys; tests have their own
FOUND=0 ENGINE_FACTS=""

line() { printf '%-13s  %-17s %s\n' "$@"; }
fine() { line fine "$1" "$2"; }
caveat() { line caveat "$1" "$2: $3"; }
fails() {
  line "will not work" "$1" "$2: $3"
  FOUND=$HOST_CANNOT
}

# at_least NAME VALUE MINIMUM UNIT CURE
at_least() {
  case $2 in
    '' | *[!0-9]*) caveat "$1" "not known" "start the engine and run make doctor again; the lab needs $3 $4" ;;
    *) if [ "$2" -ge "$3" ]; then fine "$1" "$2 $4"; else fails "$1" "$2 $4, but the lab needs $3" "$5"; fi ;;
  esac
}

# from_version LEAST VERSION: whether VERSION is that or newer, by its first three numbers.
from_version() {
  local i least version
  IFS=. read -ra least <<<"$1"
  IFS=. read -ra version <<<"${2#v}"
  for i in 0 1 2; do
    local a=${version[i]:-0} b=${least[i]:-0}
    a=${a%%[!0-9]*}
    [ "${a:-0}" -eq "$b" ] || break
  done
  [ "${a:-0}" -ge "$b" ]
}

# of_engine KEY: what the engine says of itself; nothing if it does not.
of_engine() { sed -n "s/^$1=//p" <<<"$ENGINE_FACTS"; }

ask_engine() {
  ENGINE_FACTS=$(docker info --format 'version={{.ServerVersion}}
driver={{.Driver}} {{.DriverStatus}}
root={{.DockerRootDir}}
system={{.OperatingSystem}}
cgroup={{.CgroupVersion}}
security={{.SecurityOptions}}
cpuset={{.CPUSet}}
cpus={{.CPUCfsQuota}}
memory={{.MemoryLimit}}
pids={{.PidsLimit}}
proxy={{.HTTPSProxy}}' 2>/dev/null) || ENGINE_FACTS=""
}

check_engine() {
  local version
  ask_engine
  version=$(of_engine version)
  if [ -z "$version" ] && ! engine_answers; then
    if can_start_engine; then
      caveat engine "none answers" "bin/engine start, or any make target that runs containers, installs Docker from Debian's packages and starts it"
    else
      fails engine "none answers" "start Docker (systemctl start docker, or Docker Desktop), join the docker group, or run as root on Debian 12"
    fi
    return
  fi
  if [ -z "$version" ]; then
    caveat engine "its version is not known" "the lab needs $MIN_ENGINE or newer; check with docker version"
  elif from_version $MIN_ENGINE "$version"; then
    fine engine "$version"
  else
    fails engine "$version, but the start_interval of health checks needs $MIN_ENGINE" "install a newer Docker Engine"
  fi
  check_compose
  check_store
  check_rootless
  check_cgroups
}

check_compose() {
  local version
  version=$(docker compose version --short 2>/dev/null) || version=""
  if [ -z "$version" ]; then
    fails Compose missing "install the docker-compose-plugin package"
  elif from_version $MIN_COMPOSE "$version"; then
    fine Compose "$version"
  else
    fails Compose "$version, but overlays that replace lists need $MIN_COMPOSE" "install a newer docker-compose-plugin package"
  fi
}

# Whether its containers are seen is what the probe tells.
check_store() {
  case $(of_engine driver) in
    *containerd.snapshotter*) fine "image store" "containerd's; data in $(of_engine root)" ;;
    ' ' | '') caveat "image store" "not known" "docker info does not show it" ;;
    *) fine "image store" "$(of_engine driver | cut -d' ' -f1), Docker's own; data in $(of_engine root)" ;;
  esac
}

check_rootless() {
  case $(of_engine security) in
    *name=rootless*) caveat rootless "the engine runs as an ordinary user" "limits hold only if cgroup controllers are delegated to it; see the next lines and docs/hosts.md" ;;
    *) fine rootless "no: the engine runs as root" ;;
  esac
}

# Without a controller the engine starts a container without that limit, and only warns.
check_cgroups() {
  local controller lacking=""
  case $(of_engine cgroup) in
    1 | 2) fine cgroup "version $(of_engine cgroup)" ;;
    *) caveat cgroup "version not known" "docker info does not show it" ;;
  esac
  for controller in cpuset cpus memory pids; do
    [ "$(of_engine $controller)" != false ] || lacking="$lacking $controller"
  done
  if [ -n "$lacking" ]; then
    fails limits "the engine cannot set$lacking, so approaches would not be isolated" \
      "for a rootless engine delegate them (Delegate=cpu cpuset io memory pids, docs/hosts.md), for any other enable these cgroup controllers"
  else
    fine limits "cpuset, cpus, memory and pids can be set"
  fi
}

# check_machine: what the engine's machine is. One that is virtual on this host hides its processor.
check_machine() {
  at_least CPUs "$(host_cpus)" $MIN_CPUS CPUs "with one CPU the load generator and the approach disturb each other: use a larger host"
  at_least memory "$(host_memory_mb)" $MIN_MEMORY_MB MB "use a larger host, or give Docker's machine more"
  if ! is_linux; then
    fine "CPU model" "$(sysctl -n machdep.cpu.brand_string 2>/dev/null || echo "not known")"
    [ "$(sysctl -n hw.nperflevels 2>/dev/null || echo 1)" -le 1 ] || hybrid "sysctl hw.nperflevels" "macOS chooses them for the engine's machine, so repeat each measurement (make sweep)"
    return
  fi
  fine "CPU model" "$(cpu_model)"
  check_smt
  ! has_unlike_cores || hybrid "$ROOT/sys/devices/system/cpu" "write a file in sizes/ whose CPU sets hold cores of one kind"
  check_governor
  check_steal
}

cpu_model() {
  local model
  model=$(sed -n 's/^model name[[:space:]]*: //p' "$ROOT/proc/cpuinfo" 2>/dev/null | sort | uniq -c | sed 's/^ *\([0-9]*\) /\1 × /' | paste -sd, - | sed 's/,/, /g')
  echo "${model:-$(uname -m), model name not known}"
}

check_smt() {
  if [ "$(cat "$ROOT/sys/devices/system/cpu/smt/active" 2>/dev/null)" != 1 ]; then
    fine SMT "off, or not reported: each CPU counts as a core"
  elif [ "$(host_cpus)" -lt 4 ]; then
    caveat SMT "on, with fewer than four CPUs" "the approach shares a core with the load generator or the backend, which raises CPU per request under load; no rule of the verdict detects this; use more CPUs"
  elif [ $(($(host_cpus) % 4)) -ne 0 ]; then
    caveat SMT "on, and the number of CPUs is no multiple of four" "SIZE=auto lets two parts share a core, which raises CPU per request under load; no rule of the verdict detects this; write a file in sizes/ that keeps cores whole"
  else
    fine SMT "on: SIZE=auto gives out whole cores"
  fi
}

# Of Intel's hybrid processors, or by the kernel's capacity of each CPU on arm.
has_unlike_cores() {
  [ ! -e "$ROOT/sys/devices/cpu_atom" ] || return 0
  [ "$(cat "$ROOT"/sys/devices/system/cpu/cpu[0-9]*/cpu_capacity 2>/dev/null | sort -u | wc -l)" -gt 1 ]
}

hybrid() { # SOURCE CURE
  caveat "hybrid cores" "fast and slow ones ($1)" "CPU per request depends on which cores an approach gets, and no rule of the verdict detects this; $2"
}

check_governor() {
  local governors
  governors=$(cat "$ROOT"/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor 2>/dev/null | sort -u | paste -sd, - || true)
  case $governors in
    '') fine governor "not reported, as in virtual machines" ;;
    performance) fine governor performance ;;
    *) caveat governor "$governors" "the clock follows the load, so CPU per request falls as the load rises, and no rule of the verdict detects this; run cpupower frequency-set -g performance" ;;
  esac
}

# steal_per_cent: what the hypervisor gives to other machines now; nothing if it cannot be read.
steal_per_cent() {
  local now before
  before=$(sed -n 's/^cpu  *//p' "$ROOT/proc/stat" 2>/dev/null)
  sleep $STEAL_SECONDS
  now=$(sed -n 's/^cpu  *//p' "$ROOT/proc/stat" 2>/dev/null)
  awk -v before="$before" -v now="$now" 'BEGIN {
    n = split(before, a); split(now, b)
    for (i = 1; i <= n && i <= 8; i++) total += b[i] - a[i]
    if (n >= 8) printf "%d", (total > 0 ? 100 * (b[8] - a[8]) / total : 0)
  }'
}

check_steal() {
  local steal
  steal=$(steal_per_cent)
  case $steal in
    '') caveat steal "not known" "$ROOT/proc/stat does not show it" ;;
    *) if [ "$steal" -gt $SUSPECT_STEAL ]; then
      caveat steal "$steal % of the CPUs' time just now" "runs are suspect above $SUSPECT_STEAL % and invalid above $INVALID_STEAL %; measure at a quieter time, or on CPUs of your own"
    else
      fine steal "$steal % of the CPUs' time, over $STEAL_SECONDS s"
    fi ;;
  esac
}

check_kernel_limits() {
  local files threads
  is_linux || return 0 # the engine's machine is a virtual one; the plan asks a container
  files=$(host_open_files)
  at_least "open files" "$files" $MIN_FILES descriptors "raise the hard limit of the engine and of containerd (LimitNOFILE of docker.service and containerd.service, ulimit -Hn)"
  case $files in '' | *[!0-9]*) files=$FLAGSHIP_FILES ;; esac
  [ "$files" -ge $FLAGSHIP_FILES ] ||
    caveat "open files" "CONCURRENCY=10000 needs $FLAGSHIP_FILES" "with fewer it gets a smaller backend pool, which makes every run suspect; raise the hard limit of the engine and of containerd (LimitNOFILE of docker.service and containerd.service, ulimit -Hn)"
  threads=$(host_threads)
  if [ -z "$threads" ]; then
    caveat threads "their limit is not known" "$ROOT/proc/sys does not show it"
  elif [ "$threads" -lt $FLAGSHIP_THREADS ]; then
    caveat threads "$threads at most" "10,000 platform threads do not fit, and a run that needs them fails; raise vm.max_map_count, kernel.pid_max and kernel.threads-max"
  else
    fine threads "$threads at most"
  fi
}

# How many the kernel allows; a Java thread takes two mappings.
host_threads() {
  local lowest="" name value
  for name in vm/max_map_count kernel/pid_max kernel/threads-max; do
    value=$(cat "$ROOT/proc/sys/$name" 2>/dev/null) || continue
    [ "$name" != vm/max_map_count ] || value=$((value / 2))
    if [ -z "$lowest" ] || [ "$value" -lt "$lowest" ]; then lowest=$value; fi
  done
  echo "$lowest"
}

# Images are on the engine's disk, which is the host's own only where it shows that folder.
check_disk() {
  local root
  root=$(of_engine root)
  if is_linux && [ -d "${root:-/var/lib}" ]; then
    at_least disk "$(free_mb "${root:-/var/lib}")" $MIN_DISK_MB "MB free" "free some in ${root:-/var/lib}: images and the build cache take about 5 GB"
  else
    caveat disk "that of the engine's machine is not known" "images and the build cache take about 5 GB there"
  fi
  at_least "disk, results" "$(free_mb "$LAB_RESULTS")" $MIN_RESULTS_MB "MB free" "free some: a sweep writes about 50 MB"
}

check_port_of_each() {
  local service name
  while read -r service name; do
    if host_port_taken "${!name}" && ! service_runs "$service"; then
      fails "port ${!name}" "taken by another program" "stop it, or set $name=$((${!name} + 1))"
    else
      fine "port ${!name}" "free for $service, or its own"
    fi
  done <<'END'
prometheus PROMETHEUS_PORT
grafana GRAFANA_PORT
results RESULTS_PORT
END
}

check_dns() {
  if on_stand_ins; then
    fine DNS "not asked: base images are built from packages here"
  elif ! command -v getent >/dev/null || within_5_s getent hosts registry-1.docker.io >/dev/null; then
    fine DNS "outside names resolve, or this host has no getent to check"
  else
    caveat DNS "registry-1.docker.io has no address here" "images and packages can come only through a mirror or a proxy; see /etc/resolv.conf"
  fi
}

within_5_s() {
  if command -v timeout >/dev/null; then timeout 5 "$@"; else "$@"; fi
}

check_proxy() {
  local proxy=${HTTPS_PROXY:-${https_proxy:-$(of_engine proxy)}}
  case $proxy in *docker.internal*) proxy="" ;; esac # Docker Desktop's own, which is always there
  if [ -n "$proxy" ]; then
    caveat proxy "set" "Maven does not read it from the environment, so images cannot be built here if only the proxy reaches Maven's packages (docs/hosts.md)"
  else
    fine proxy none
  fi
}

check_images() {
  local found
  if on_stand_ins; then
    caveat registry "stand-in base images are selected" "the tables and environment say so; delete compose.stand-ins.yaml to go back to official ones"
  else
    found=$(registry)
    case $found in
      here) fine registry "$PROMETHEUS_IMAGE is here" ;;
      limited) fails registry "it limits how often images are pulled" "docker login, or wait for some hours; stand-in images are not used in this case" ;;
      failed:*) fails registry "$PROMETHEUS_IMAGE cannot be pulled (${found#failed: })" "mend that, or docker load the images of .env" ;;
      *) if can_build_stand_ins; then
        caveat registry "none answers" "base images are built from Debian's packages by the first make target that needs them, and the tables say so"
      else
        fails registry "none answers" "connect to one, or docker load the images of .env"
      fi ;;
    esac
  fi
  if docker image inspect "$GRAFANA_IMAGE" >/dev/null 2>&1; then
    fine Grafana "$GRAFANA_IMAGE is here"
  elif on_stand_ins; then
    caveat Grafana "its image is not here and no registry answers" "the lab works without it; docker load $GRAFANA_IMAGE to get it"
  else
    caveat Grafana "not pulled yet" "make up pulls it"
  fi
}

# check_metrics: starts a container and asks whether its figures arrive; builds the load generator's image for that.
check_metrics() {
  local said=""
  if ! on_stand_ins && [ "$(registry)" != here ]; then
    caveat "container metrics" "not proven" "the load generator's image cannot be built now; run make doctor again once a run has built it"
    return
  fi
  [ -n "$(image_id loadgen)" ] || say "doctor: building the load generator's image, some minutes"
  if ! said=$("$LAB_ROOT/bin/prepare" loadgen 2>&1 && "$LAB_ROOT/bin/metrics" --again 2>&1); then
    said=$(tail -n 1 <<<"$said" | sed 's/^loom-lab: //')
    case $said in
      *"is in use by"* | *"is up on this engine"*) caveat "container metrics" "not proven, because a container has to be started for it" "$said" ;;
      *"above"*) fails "container metrics" "not proven, because the load generator's image could not be built" "run bin/prepare loadgen, which shows why" ;;
      *) fails "container metrics" "none seen" "$said" ;;
    esac
  elif grep -qx CONTAINER_METRICS=cadvisor "$METRICS_FOUND"; then
    fine "container metrics" "CPU, RSS and threads of a container arrive from cAdvisor"
  else
    said=$(sed -n 's/^CADVISOR_FAILED=//p' "$METRICS_FOUND")
    caveat "container metrics" "not from cAdvisor${said:+, which sees no container here ($said)}" \
      "they arrive from the lab's own exporter, and environment.json says so; docs/hosts.md says what cAdvisor needs"
  fi
}
