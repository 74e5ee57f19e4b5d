#!/bin/bash
# Makes /app/classes-STYLE.jsa while an image is built: the classes of the service's start, which the JVM then maps in place of
# reading and verifying them (AppCDS). For each style that it has, the service starts once with its usual options, answers once,
# and ends.
set -euo pipefail

LONGEST_SECONDS=120
REFUSED=2 # the service's exit code for a style that it does not have
# Mandatory settings; none of them decides which classes are loaded.
export LAB_BACKEND_URL=http://127.0.0.1:9 LAB_PLATFORM_THREADS=10 LAB_BACKEND_CONNECTIONS=10 LAB_MAX_CONNECTIONS=100 LAB_BACKLOG=100 \
  LAB_CONNECT_TIMEOUT_MS=1000 LAB_RESPONSE_TIMEOUT_MS=1000 LAB_POOL_TIMEOUT_MS=1000 LAB_KEEP_ALIVE_MS=1000 LAB_HTTP_CLIENT=default \
  LAB_LIMIT=0 LAB_SAVE_MOVIES=false BACKEND_DELAY=0 BACKEND_ERROR_SHARE=0 BACKEND_SEED=1

# ask PORT PATH: sends a request on descriptor 3; fails where nobody listens.
ask() { exec 3<>"/dev/tcp/127.0.0.1/$1" && printf 'GET %s HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n' "$2" >&3; }

ready() { (ask 8081 /actuator/health/readiness && grep -q UP <&3) 2>/dev/null; }

# archive STYLE
archive() {
  local classes=/app/classes-$1.jsa log service began=$SECONDS code=0
  log=$(mktemp)
  # A heap of its own, because that of a large host would have no compressed references, and the archive would fit no other JVM.
  LAB_STYLE=$1 JAVA_TOOL_OPTIONS="-Xms256m -Xmx256m -XX:ArchiveClassesAtExit=$classes" bash /app/entrypoint.sh >"$log" 2>&1 &
  service=$!
  until ready; do
    if kill -0 $service 2>/dev/null && [ $((SECONDS - began)) -lt $LONGEST_SECONDS ]; then
      sleep 0.2
    else
      kill $service 2>/dev/null || true
      wait $service || code=$?
      rm -f "$classes"
      [ "$1" = idiomatic ] && [ $code -eq $REFUSED ] && return
      cat "$log" >&2
      exit 1
    fi
  done
  (ask 8081 /actuator/prometheus && read -r -t 10 _ <&3) || true
  (ask 8080 '/epoch-millis?delayInMillis=0' && read -r -t 10 _ <&3) || true
  kill -TERM $service
  wait $service || true
  [ -s "$classes" ] || { echo "There is no archive of classes, so the service starts without one:" && cat "$log"; } >&2
  rm -f "$log"
}

archive lean
# The backend has no model, and no style.
[ -z "${LAB_CONCURRENCY:-}" ] || archive idiomatic
