#!/usr/bin/env bats
# How the host is shared out by SIZE=auto and the sizes/ files.

load ../helpers

# shellcheck disable=SC2329  # a stand-in that the sourced functions call
setup() {
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  # shellcheck source=bin/host.sh
  . "$LAB_ROOT/bin/host.sh"
  # shellcheck source=bin/sizing.sh
  . "$LAB_ROOT/bin/sizing.sh"
  host_cpu_order() { seq 0 $(($1 - 1)); }
}

cpusets() { size_auto "$1" "$2" "$3" | sed -nE 's/^([A-Z]+)_CPUSET=(.*)/\1 \2/p' | paste -sd' ' -; }

@test "two CPUs: the approach alone on one, what drives it on the other" {
  [ "$(cpusets 1000 2 24000)" = "APPROACH 0 BACKEND 1 LOADGEN 1 MONITORING 1" ]
}

@test "one CPU is shared by all" {
  [ "$(cpusets 1000 1 24000)" = "APPROACH 0 BACKEND 0 LOADGEN 0 MONITORING 0" ]
}

@test "four and more CPUs are split 2:1:1 without overlap" {
  [ "$(cpusets 1000 4 24000)" = "APPROACH 0,1 BACKEND 2 LOADGEN 3 MONITORING 2,3" ]
  [ "$(cpusets 1000 8 24000)" = "APPROACH 0,1,2,3 BACKEND 4,5 LOADGEN 6,7 MONITORING 4,5,6,7" ]
}

@test "hardware threads of one core go to the same part" {
  host_cpu_order() { printf '%s\n' 0 4 1 5 2 6 3 7; }
  [ "$(cpusets 1000 8 24000)" = "APPROACH 0,4,1,5 BACKEND 2,6 LOADGEN 3,7 MONITORING 2,3,6,7" ]
}

@test "the approach's memory follows the concurrency up to half of the host" {
  [[ $(size_auto 10000 2 24000) == *APPROACH_MEMORY=6024m* ]]
  [[ $(size_auto 200 2 24000) == *APPROACH_MEMORY=1124m* ]]
  [[ $(size_auto 10000 2 8000) == *APPROACH_MEMORY=4000m* ]]
}

@test "every named size sets every key" {
  local file key
  for file in "$LAB_ROOT"/sizes/*.env; do
    for key in $SIZE_KEYS; do
      grep -q "^$key=." "$file" || { echo "$key is missing in $file"; return 1; }
    done
  done
}

@test "a named size asks for the CPUs of its cpusets and the sum of its memories" {
  run size_named ec2 31 99999
  refused 3 "needs 32 CPUs"
  run size_named ec2 32 65535
  refused 3 "needs 65536 MB"
}
