#!/usr/bin/env bats
# What a process says of its heap by POST /memory, held against the class histogram that its JVM makes of the same moment.

load ../helpers
# shellcheck source=bin/lib.sh
. "$LAB_ROOT/bin/lib.sh"

REQUESTS=300 WAIT_S=25

setup_file() {
  (cd "$LAB_ROOT" && APPROACH_CPUSET="" RESPONSE_TIMEOUT_MS=60000 docker compose up --detach --wait backend tomcat-virtual) >"$BATS_FILE_TMPDIR/log" 2>&1 ||
    { cat "$BATS_FILE_TMPDIR/log" >&3; return 1; }
}

teardown_file() { "$LAB_ROOT/bin/down"; }

# send WAIT_SECONDS: as many requests as REQUESTS at once, each of which waits so long for the backend; until all are answered.
send() {
  docker run --rm --network loom-lab_under_load --entrypoint hey loom-lab/loadgen -n "$REQUESTS" -c "$REQUESTS" -t 60 \
    "http://tomcat-virtual:8080/httpbin/block/$1"
}

# memory METHOD: what the process answers on /memory.
memory() {
  docker exec "$(container_of tomcat-virtual)" bash -c "exec 3<>/dev/tcp/127.0.0.1/8081
    printf '$1 /memory HTTP/1.0\r\nContent-Length: 0\r\n\r\n' >&3; cat <&3" | sed '1,/^\r$/d'
}

# class_histogram: of the live objects, by the jcmd of a JDK beside the process; its images are JREs.
class_histogram() {
  docker run --rm --network none --pid "container:$(container_of tomcat-virtual)" --user 10001 --cap-drop ALL --entrypoint jcmd \
    "$MAVEN_IMAGE" 1 GC.class_histogram
}

# look NAME: the memory and the histogram of now, in files of that name.
look() {
  memory POST >"$BATS_TEST_TMPDIR/$1.json"
  class_histogram >"$BATS_TEST_TMPDIR/$1.txt"
}

told() { json .heap_used_bytes "$BATS_TEST_TMPDIR/$1.json"; }
counted() { awk '$1 == "Total" { print $3 }' "$BATS_TEST_TMPDIR/$1.txt"; }
in_flight() { memory GET >"$BATS_TEST_TMPDIR/now" && json .requests_in_flight "$BATS_TEST_TMPDIR/now"; }

# agree PERCENT A B
agree() {
  echo "$2 told, $3 counted"
  awk -v percent="$1" -v told="$2" -v counted="$3" \
    'BEGIN { off = told / counted - 1; exit !(off < percent / 100 && off > -percent / 100) }'
}

@test "the heap that a process tells is what its objects take, and so is the part that waiting requests hold" {
  use_base_images
  local deadline sender
  send 1
  look idle
  send "$WAIT_S" >/dev/null &
  sender=$!
  deadline=$((SECONDS + WAIT_S - 5))
  until [ "$(in_flight)" -eq "$REQUESTS" ]; do [ $SECONDS -lt $deadline ]; done
  look waiting
  [ "$(in_flight)" -eq "$REQUESTS" ]
  wait "$sender"
  agree 5 "$(told idle)" "$(counted idle)"
  agree 5 "$(told waiting)" "$(counted waiting)"
  agree 10 $(($(told waiting) - $(told idle))) $(($(counted waiting) - $(counted idle)))
}
