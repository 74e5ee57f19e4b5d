#!/usr/bin/env bats
# The other host scripts, without an engine.

# shellcheck disable=SC2031  # every test is a process
load ../helpers

@test "make takes a value literally: nothing in it is executed" {
  stub docker 'exit 1'
  no_root
  run make -C "$LAB_ROOT" run-ab "CONCURRENCY=\$(shell touch $BATS_TEST_TMPDIR/ran)\`touch $BATS_TEST_TMPDIR/ran\`"
  [ "$status" -eq 2 ]
  [[ $output == *"CONCURRENCY="* ]]
  [ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "make alone prints every documented verb" {
  run make -C "$LAB_ROOT"
  [ "$status" -eq 0 ]
  local verb
  for verb in run-ab scenario papers reproduce smoke doctor up down clean test lint; do
    [[ $output == *"  $verb "* ]] || { echo "$verb is missing"; return 1; }
  done
}

@test "without Docker and without root there is one message with the cure" {
  stub docker 'exit 1'
  stub systemctl 'exit 1'
  no_root
  run "$LAB_ROOT/bin/engine" start
  refused 3 "not root" "docker group"
}

@test "a stopped system service is not replaced but named" {
  stub docker 'exit 1'
  stub systemctl 'exit 0'
  stub id 'case $1 in -u) echo 0 ;; *) echo root ;; esac'
  HOST_ROOT=$BATS_TEST_TMPDIR run "$LAB_ROOT/bin/engine" start # of no Debian, where nothing is installed
  refused 3 "systemctl start docker"
}

@test "an engine without Compose names the package" {
  stub docker '[ "$1" = info ]'
  run "$LAB_ROOT/bin/engine" start
  refused 3 docker-compose-plugin
}

@test "doctor on a host that lacks things says each with a cure and exits 3" {
  host_of 1 2000
  run "$LAB_ROOT/bin/doctor"
  [ "$status" -eq 3 ]
  [[ $output == *"will not work  engine"*"start Docker"* ]]
  [[ $output == *"will not work  CPUs"*"use a larger host"* ]]
  [[ $output == *"will not work  memory"* ]]
}

@test "papers without an engine is one message with the cure" {
  stub docker 'exit 1'
  stub systemctl 'exit 1'
  no_root
  run "$LAB_ROOT/bin/papers"
  refused 3 "not root" "docker group"
}

# A checkout of our making in $lab, whose bin/run tells $lab/ran what it was given, and ends with the code of $lab/code.
reproducing() { # PLAN
  lab=$BATS_TEST_TMPDIR/lab
  mkdir -p "$lab"/{bin,sizes,loadgen/scenarios,loadgen/published,loadgen/src/loomlab/plan}
  cp "$LAB_ROOT"/bin/{lib.sh,variables.sh,variables.tsv,reproduce} "$lab/bin"
  cp "$LAB_ROOT/compose.yaml" "$lab"
  touch "$lab/loadgen/published/virtual-threads-hey.yaml"
  echo 0 >"$lab/code"
  printf '#!/bin/sh\n' | tee "$lab/bin/engine" "$lab/bin/prepare" >/dev/null
  printf '#!/bin/sh\necho "$1 ${NAME:-} ${RESUME:-} ${REPEATS:-} ${GC:-}" >>%s/ran\nexit "$(cat %s/code)"\n' "$lab" "$lab" >"$lab/bin/run"
  chmod +x "$lab"/bin/{engine,prepare,run}
  stub docker "case \"\$*\" in *' reproduce '*) printf '$1' ;; *' claims '*) echo answers ;; esac"
}

@test "reproduce makes what is missing, each with its own settings and no other, and tells the answers" {
  reproducing 'finish RESUME=a\nscenario NAME=x REPEATS=2\n'
  echo 1 >"$lab/code"
  PAPER=virtual-threads-hey GC=g1 run "$lab/bin/reproduce"
  [ "$status" -eq 1 ]
  [ "$(cat "$lab/ran")" = $'finish  a  \nscenario x  2 ' ]
  [[ $output == *answers* ]]
}

@test "reproduce ends where a run is interrupted, and tells the answers that there are" {
  reproducing 'scenario NAME=x REPEATS=2\nscenario NAME=y REPEATS=2\n'
  echo 130 >"$lab/code"
  PAPER=virtual-threads-hey run "$lab/bin/reproduce"
  [ "$status" -eq 130 ]
  [ "$(cat "$lab/ran")" = "scenario x  2 " ]
  [[ $output == *answers* ]]
}

@test "reproduce with PLAN=1 tells the plan and makes nothing" {
  reproducing 'scenario NAME=x REPEATS=2\n'
  PLAN=1 PAPER=virtual-threads-hey run "$lab/bin/reproduce"
  [ "$status" -eq 0 ]
  [[ $output == *"scenario NAME=x REPEATS=2"* ]]
  [ ! -e "$lab/ran" ]
}

# A checkout of our making in $lab, whose engine does nothing, and whose killed experiment cannot be summed up.
finishing() {
  lab=$BATS_TEST_TMPDIR/lab
  mkdir -p "$lab"/{bin,sizes,loadgen/scenarios,loadgen/published,loadgen/src/loomlab/plan}
  cp "$LAB_ROOT"/bin/{lib,host,lock,variables,experiment}.sh "$LAB_ROOT"/bin/{run,variables.tsv} "$lab/bin"
  cp "$LAB_ROOT/compose.yaml" "$lab"
  printf 'PROMETHEUS_PORT=1\nGRAFANA_PORT=2\nRESULTS_PORT=3\n' >"$lab/.env"
  printf '#!/bin/sh\n' | tee "$lab/bin/engine" "$lab/bin/prepare" "$lab/bin/metrics" >/dev/null
  chmod +x "$lab"/bin/{engine,prepare,metrics}
  stub docker "case \"\$*\" in *'loadgen finish') exit 4 ;; *'loadgen resume '*) echo \"\${@: -1}\" >$lab/resumed; exit 2 ;; esac"
  export LAB_LOCK=ours
}

@test "a killed experiment that cannot be summed up does not keep another from being resumed" {
  finishing
  RESUME=mine run "$lab/bin/run" finish
  [ "$status" -eq 2 ]
  [ "$(cat "$lab/resumed")" = mine ]
  [[ $output == *"a killed experiment could not be summed up (see above); its files stay as they are"* ]]
}

@test "finish without RESUME fails where a killed experiment cannot be summed up" {
  finishing
  run "$lab/bin/run" finish
  [ "$status" -eq 4 ]
  [ ! -e "$lab/resumed" ]
}

@test "compose.yaml describes every approach in the same way, and scenarios and papers name no other" {
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  local name described
  [ "$(approaches | sort)" = "$(grep -oE 'APPROACH: [a-z0-9-]+, CONCURRENCY' "$LAB_ROOT/compose.yaml" | sed 's/.*: //; s/,.*//' | sort)" ]
  for name in $(approaches); do
    described=$(sed -n "/^  $name:$/,/^$/p" "$LAB_ROOT/compose.yaml")
    [[ $described == *"image: loom-lab/$name:jdk"* && $described == *"APPROACH: $name, CONCURRENCY: "* && $described =~ x-colour:\ \"#[0-9A-F]{6}\" ]] ||
      { echo "$described"; return 1; }
  done
  for name in $(sed -nE 's/^.*approach: ([a-z-]+).*$/\1/p; s/^ *approaches: \[(.*)\]$/\1/p' \
    "$LAB_ROOT"/loadgen/scenarios/*.yaml "$LAB_ROOT"/loadgen/published/*.yaml | tr -d , | tr ' ' '\n' | sort -u); do
    approaches | grep -qxF "$name" || { echo "$name"; return 1; }
  done
}

@test "a process that has ended is gone, though its parent has not asked for its end" {
  [ -r /proc/self/stat ] || skip "needs /proc"
  # shellcheck source=bin/lock.sh
  . "$LAB_ROOT/bin/lock.sh"
  local token parent
  bash -c 'sleep 60 & echo $!; exec sleep 60' >"$BATS_TEST_TMPDIR/child" 3>&- &
  parent=$!
  until [ -s "$BATS_TEST_TMPDIR/child" ]; do sleep 0.05; done
  token=$(token_of "$(cat "$BATS_TEST_TMPDIR/child")")
  held_by_living "$token"
  kill "$(cat "$BATS_TEST_TMPDIR/child")"
  until grep -q ') Z' "/proc/$(cat "$BATS_TEST_TMPDIR/child")/stat"; do sleep 0.05; done
  run held_by_living "$token"
  kill "$parent"
  [ "$status" -eq 1 ]
}

@test "a lock of an earlier boot holds nobody up, one of another host or of other processes does" {
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  # shellcheck source=bin/lock.sh
  . "$LAB_ROOT/bin/lock.sh"
  local gone
  gone=$(boot_id() { echo earlier; } && token_of $$)
  run held_by_living "$gone"
  [ "$status" -eq 1 ]
  held_by_living "$(host_id() { echo another; } && token_of 1 | sed 's/[^ ]*$/0/')"
  held_by_living "$(process_space() { echo another; } && token_of 1 | sed 's/[^ ]*$/0/')"
}

@test "the lab of another checkout that is up is refused, and the lock is given back" {
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  # shellcheck source=bin/lock.sh
  . "$LAB_ROOT/bin/lock.sh"
  unset LAB_LOCK
  locks() { printf '%s\t%s\t%s\n' "$MINE" "$(token_of $$)" me; }
  stub docker "echo \"\$*\" >>$BATS_TEST_TMPDIR/asked; case \$* in ps*project=loom-lab*) echo \"\$UP\" ;; esac"
  export UP=$LAB_ROOT
  take_lock "a test"
  unset LAB_LOCK
  UP=/another
  run take_lock "a test"
  refused 3 "the lab of /another is up"
  grep -q "^volume rm $MINE" "$BATS_TEST_TMPDIR/asked"
}
