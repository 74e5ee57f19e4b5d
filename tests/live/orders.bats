#!/usr/bin/env bats
# Orders that were acknowledged are kept, and none is placed twice, however often database and approach are killed: KILLS=5 of each.

load ../helpers

PROJECT=loom-lab-orders
export BATS_TEST_TIMEOUT=1500 LAB_DATABASE=1 APPROACH_CPUSET="" APPROACH_CPUS=1 POOL=10

setup_file() { "$LAB_ROOT/bin/prepare" database tomcat-platform tomcat-virtual virtual-netty webflux-netty; }

compose() {
  bash -c '. "$1/bin/lib.sh"; COMPOSE_PROJECT_NAME=$2; compose --progress quiet --profile "*" "${@:3}"' - "$LAB_ROOT" "$PROJECT" "$@"
}

teardown() {
  exec 7>&-
  docker rm --force "$PROJECT" >/dev/null 2>&1 || true
  compose down --volumes --timeout 1
}

placed() { wc -l <"$BATS_TEST_TMPDIR/placed"; }

# progress: until more orders are placed than there were.
progress() {
  local before deadline=$((SECONDS + 60))
  before=$(placed)
  until [ "$(placed)" -gt $((before + 20)) ]; do
    [ $SECONDS -lt $deadline ] || { compose logs --tail 20; return 1; }
    sleep 0.1
  done
}

survives() { # APPROACH
  local approach=$1 kill id
  compose up --detach --wait --no-build --no-deps database "$approach"
  mkfifo "$BATS_TEST_TMPDIR/until"
  docker run --rm --interactive --name "$PROJECT" --network "${PROJECT}_under_load" \
    --volume "$LAB_ROOT/tests/live:/tests:ro" loom-lab/conformance python -u /tests/place_orders.py "$approach" \
    <"$BATS_TEST_TMPDIR/until" >"$BATS_TEST_TMPDIR/placed" 3>&- &
  exec 7>"$BATS_TEST_TMPDIR/until"
  progress
  for ((kill = 0; kill < ${KILLS:-5}; kill++)); do
    for id in $(compose ps --quiet database) $(compose ps --quiet "$approach"); do
      sleep "0.$((RANDOM % 90 + 10))"
      docker kill "$id" >/dev/null
      docker start "$id" >/dev/null
      progress
    done
  done
  exec 7>&-
  wait $!
  docker exec "$(compose ps --quiet database)" psql --host /tmp --username lab --no-align --tuples-only --field-separator ' ' orders \
    --command "select order_id, product from lines where product like 'piece-%'" >"$BATS_TEST_TMPDIR/kept"
  echo "# $approach: $(placed) orders acknowledged, $(wc -l <"$BATS_TEST_TMPDIR/kept") kept" >&3
  [ -z "$(comm -23 <(sort "$BATS_TEST_TMPDIR/placed") <(sort "$BATS_TEST_TMPDIR/kept"))" ] # lost
  [ -z "$(cut -d' ' -f2 "$BATS_TEST_TMPDIR/kept" | sort | uniq --repeated)" ] # placed twice
}

@test "tomcat-platform keeps what it acknowledged" { survives tomcat-platform; }
@test "tomcat-virtual keeps what it acknowledged" { survives tomcat-virtual; }
@test "virtual-netty keeps what it acknowledged" { survives virtual-netty; }
@test "webflux-netty keeps what it acknowledged" { survives webflux-netty; }
