# How the host's CPUs and memory are shared out. Source it after host.sh.
# shellcheck shell=bash

SIZE_KEYS="APPROACH_CPUS APPROACH_CPUSET APPROACH_MEMORY BACKEND_CPUS BACKEND_CPUSET BACKEND_MEMORY
  LOADGEN_CPUS LOADGEN_CPUSET LOADGEN_MEMORY MONITORING_CPUSET"

min() { echo $(($1 < $2 ? $1 : $2)); }
max() { echo $(($1 > $2 ? $1 : $2)); }

# size_auto CONCURRENCY CPUS MEMORY_MB: the host split 2:1:1 between approach, backend and load generator by cpusets;
# where there are fewer than three CPUs the last two share. CPUS=0 is no quota: even one as large as the cpuset throttles
# in some periods. Memory follows the concurrency up to the same split:
# 10,000 connections want some 6 GB. Prints KEY=VALUE lines.
size_auto() {
  local concurrency=$1 cpus=$2 memory_mb=$3 approach backend
  approach=$(max 1 $((cpus / 2)))
  backend=$(max 1 $(((cpus - approach) / 2)))
  local order approach_set backend_set loadgen_set
  order=$(host_cpu_order "$cpus")
  pick() { printf '%s\n' "$order" | sed -n "$1,$2p" | paste -sd, -; }
  approach_set=$(pick 1 "$approach")
  backend_set=$(pick $((approach + 1)) $((approach + backend)))
  loadgen_set=$(pick $((approach + backend + 1)) "$cpus")
  backend_set=${backend_set:-$approach_set}
  loadgen_set=${loadgen_set:-$backend_set}
  echo "APPROACH_CPUS=0"
  echo "APPROACH_CPUSET=$approach_set"
  echo "APPROACH_MEMORY=$(min $((memory_mb / 2)) $((1024 + concurrency / 2)))m"
  echo "BACKEND_CPUS=0"
  echo "BACKEND_CPUSET=$backend_set"
  echo "BACKEND_MEMORY=$(min $((memory_mb / 4)) 1024)m"
  echo "LOADGEN_CPUS=0"
  echo "LOADGEN_CPUSET=$loadgen_set"
  echo "LOADGEN_MEMORY=$(min $((memory_mb / 4)) $((2048 + concurrency / 2)))m"
  echo "MONITORING_CPUSET=$(printf '%s,%s' "$backend_set" "$loadgen_set" | tr , '\n' | sort -nu | paste -sd, -)"
}

memory_mb_of() {
  case $1 in
    *g) echo $((${1%g} * 1024)) ;;
    *m) echo "${1%m}" ;;
  esac
}

# size_named SIZE CPUS MEMORY_MB: the lines of sizes/SIZE.env, once the host is known to have what they ask for.
size_named() {
  local size=$1 cpus=$2 memory_mb=$3 file=$LAB_ROOT/sizes/$1.env memory last=0 want_mb=0 number
  for number in $(sed -nE 's/^[A-Z]+_CPUSET=//p' "$file" | tr -s ',-' '\n'); do
    last=$(max "$last" "$number")
  done
  while IFS= read -r memory; do
    want_mb=$((want_mb + $(memory_mb_of "$memory")))
  done < <(sed -nE 's/^[A-Z]+_MEMORY=//p' "$file")
  [ $((last + 1)) -le "$cpus" ] ||
    die "$HOST_CANNOT" "SIZE=$size needs $((last + 1)) CPUs and this host has $cpus: use SIZE=auto, or a larger host."
  [ "$want_mb" -le "$memory_mb" ] ||
    die "$HOST_CANNOT" "SIZE=$size needs $want_mb MB of memory and this host has $memory_mb MB: use SIZE=auto, or a larger host."
  grep -E '^[A-Z_]+=' "$file"
}

# size_lines SIZE CONCURRENCY: the KEY=VALUE lines of the size on this host.
size_lines() {
  if [ "$1" = auto ]; then
    size_auto "$2" "$(host_cpus)" "$(host_memory_mb)"
  else
    size_named "$1" "$(host_cpus)" "$(host_memory_mb)"
  fi
}
