#!/bin/bash
# Starts a service. GC names the collector; LAB_HEAP_PERCENT is the heap's share of the memory limit.
set -euo pipefail

refuse() {
  echo "$1" >&2
  exit 2
}

# JDK 21 has a generational ZGC on request. Since JDK 24 ZGC is always generational and the option is gone, so unknown options are ignored.
GENERATIONAL="-XX:+IgnoreUnrecognizedVMOptions -XX:+ZGenerational"

case "${GC:=parallel}" in
  g1) collector=-XX:+UseG1GC ;;
  parallel) collector=-XX:+UseParallelGC ;;
  serial) collector=-XX:+UseSerialGC ;;
  zgc) collector="-XX:+UseZGC $GENERATIONAL" ;;
  *) refuse "GC is \"$GC\"; use g1, parallel, serial or zgc." ;;
esac

case "${LAB_HEAP_PERCENT:=60}" in
  [1-9] | [1-8][0-9] | 90) ;;
  *) refuse "LAB_HEAP_PERCENT is \"$LAB_HEAP_PERCENT\"; give a whole number from 1 to 90." ;;
esac

# Otherwise garbage counts as live: three of four full collections of serial leave up to 5 % of the old generation as it is (DeadSpacer
# in serialFullGC.cpp), each of G1 every region that is live to 95 % (G1FullGCScope).
[ "$GC" != serial ] || collector="$collector -XX:MarkSweepAlwaysCompactCount=1"
[ "$GC" != g1 ] || collector="$collector -XX:MarkSweepDeadRatio=0"

# Classes that the image has ready to be mapped, for each style. ZGC has no compressed references, which an archive was made with.
# LAB_CLASS_ARCHIVE=off does without: for a comparison with a JVM that an option of its own keeps from using it.
archive=
classes=/app/classes-${LAB_STYLE:-lean}.jsa
[ "$GC" = zgc ] || [ "${LAB_CLASS_ARCHIVE:-}" = off ] || [ ! -e "$classes" ] || archive="-Xshare:auto -XX:SharedArchiveFile=$classes"

# A connection is a descriptor here and one towards the backend.
ulimit -S -n "$(ulimit -H -n)"

# Options of the user's, with semicolons between them.
: "${LAB_JVM_OPTS:=}"

# Netty's transport: through the JDK, as every other server and client, or its own.
case "${LAB_TRANSPORT:=nio}" in
  nio | epoll) ;;
  *) refuse "LAB_TRANSPORT is \"$LAB_TRANSPORT\"; use nio or epoll." ;;
esac

# Minimum counts where the limit is small, the others elsewhere: together they fix the heap's size.
# shellcheck disable=SC2086  # one word an option
exec java $collector $archive \
  -XX:InitialRAMPercentage="$LAB_HEAP_PERCENT" \
  -XX:MinRAMPercentage="$LAB_HEAP_PERCENT" \
  -XX:MaxRAMPercentage="$LAB_HEAP_PERCENT" \
  -XX:+ExitOnOutOfMemoryError \
  -Dreactor.netty.native="$([ "$LAB_TRANSPORT" = nio ] && echo false || echo true)" \
  ${LAB_CARRIERS:+-Djdk.virtualThreadScheduler.parallelism=$LAB_CARRIERS} ${LAB_JVM_OPTS//;/ } \
  -jar /app/app.jar
