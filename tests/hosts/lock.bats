#!/usr/bin/env bats
# One lab an engine, whichever checkout asks.

load ../helpers

setup() {
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  OTHER=$BATS_TEST_TMPDIR/other
  "$LAB_ROOT/tests/copy" "$OTHER"
  # Where `make test-all` has the lock, it is put aside.
  tests_lock=$(locks)
  ! [ -n "$tests_lock" ] || docker volume rm "${LAB_LOCK:-none}" >/dev/null
  unset LAB_LOCK
}

teardown() {
  local name token owner
  [ -z "${holder:-}" ] || { kill "$holder" && wait "$holder" 2>/dev/null || true; }
  locks | cut -d'|' -f1 | while IFS= read -r name; do docker volume rm "$name" >/dev/null; done
  make -C "$LAB_ROOT" down >/dev/null 2>&1 || true
  [ -n "$tests_lock" ] || return 0
  IFS='|' read -r name token owner <<<"$tests_lock"
  docker volume create --label loom-lab.lock="$token" --label loom-lab.owner="$owner" "$name" >/dev/null
}

# hold: a process of this checkout that has the lock.
hold() {
  bash -c ". '$LAB_ROOT/bin/lib.sh'; take_lock 'a test'; echo held; exec sleep 400" \
    >"$BATS_TEST_TMPDIR/held" 3>&- &
  holder=$!
  until grep -q held "$BATS_TEST_TMPDIR/held"; do sleep 0.1; done
}

@test "while one checkout has the lab, every verb of another is refused at once, with the owner's name" {
  local verb
  hold
  for verb in "run-ab CONCURRENCY=50" up down clean finish; do
    # shellcheck disable=SC2086  # verb and variables
    run make -C "$OTHER" $verb
    [ "$status" -ne 0 ]
    [[ $output == *"the engine is in use by $LAB_ROOT (a test), process $holder"* ]] || { echo "$verb: $output"; return 1; }
    [ -z "$(lab_containers)" ]
    [ ! -e "$OTHER/.cache/built" ]
  done
}

@test "a lock whose process is gone holds nobody up" {
  hold
  kill -KILL "$holder"
  wait "$holder" 2>/dev/null || true
  run make -C "$OTHER" finish
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ -z "$(locks)" ]
}

@test "the lab of another checkout that is up is left alone" {
  docker compose --project-directory "$LAB_ROOT" up --detach --no-deps prometheus >/dev/null 2>&1
  run make -C "$OTHER" run-ab CONCURRENCY=50
  [ "$status" -ne 0 ]
  [[ $output == *"the lab of $LAB_ROOT is up on this engine: run make down there"* ]] || { echo "$output"; return 1; }
  [ -n "$(docker ps --quiet --filter label=com.docker.compose.service=prometheus)" ]
}

@test "the lab of another checkout whose containers have all stopped gives way" {
  docker compose --project-directory "$LAB_ROOT" up --detach --no-deps prometheus >/dev/null 2>&1
  docker compose --project-directory "$LAB_ROOT" kill prometheus >/dev/null 2>&1
  run make -C "$OTHER" finish
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ -z "$(lab_containers)" ]
}

@test "what a killed experiment left is removed, what the user started is not" {
  docker compose --project-directory "$LAB_ROOT" up --detach --no-deps prometheus >/dev/null 2>&1
  LAB_EXPERIMENT=20200101T000000Z-dead docker compose --project-directory "$LAB_ROOT" up --detach --no-deps cadvisor >/dev/null 2>&1
  run make -C "$LAB_ROOT" finish
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ $output == *"experiment 20200101T000000Z-dead of $LAB_ROOT was killed: removing the containers it left"* ]] || { echo "$output"; return 1; }
  [ -n "$(docker ps --quiet --filter label=com.docker.compose.service=prometheus)" ]
  [ -z "$(docker ps --all --quiet --filter label=com.docker.compose.service=cadvisor)" ]
}
