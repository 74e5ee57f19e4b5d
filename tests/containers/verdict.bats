#!/usr/bin/env bats
# Each rule of the verdict, provoked for real.

load ../helpers

log="" lab=""
RUN="CONCURRENCY=50 DURATION=10s WARMUP_CAP=1s APPROACH=tomcat-virtual"

teardown() {
  stop_lab
  rm -f "$LAB_ROOT/sizes/provoked.env"
}

# provoke COMMAND...: once the run has begun.
provoke() {
  wait_for_line "measure [0-9]" 120
  "$@"
}

# squeeze CPUS COMMAND...: gives the container that the command names a quota of so many CPUs.
squeeze() {
  local cpus=$1
  shift
  docker update --cpus "$cpus" "$("$@")"
}

generator() { docker ps --quiet --filter "label=com.docker.compose.service=loadgen"; }

# judged VERDICT SENTENCES...: the run ended so, and its reasons have all of them.
judged() {
  local verdict=$1 sentence reasons
  shift
  end_of_lab
  reasons=$(run_of '.runs[0].reasons | join(" ")')
  [ "$(run_of '.runs[0].verdict')" = "$verdict" ] || { echo "$reasons"; cat "$log"; return 1; }
  for sentence in "$@"; do
    [[ $reasons == *"$sentence"* ]] || { echo "'$sentence' is not in: $reasons"; return 1; }
  done
}

# size_with KEY=VALUE...: a size of that name on the smallest lab.
size_with() {
  cp "$LAB_ROOT/sizes/smoke.env" "$LAB_ROOT/sizes/provoked.env"
  printf '%s\n' "$@" >>"$LAB_ROOT/sizes/provoked.env"
}

@test "a generator squeezed to a tenth of a CPU, and a run too short and too cold" {
  # shellcheck disable=SC2086  # one word a variable
  start_lab run-k6 $RUN CONCURRENCY=300
  provoke squeeze 0.1 generator
  judged invalid "The load generator limited the run: its CPU quota was" "waves of requests only" \
    "There was no warm-up"
}

@test "a backend squeezed to a twentieth of a CPU" {
  # shellcheck disable=SC2086
  start_lab $RUN CONCURRENCY=300
  provoke squeeze 0.05 container_of backend
  judged invalid "The backend limited the run: its CPU quota was" "ms late at p99"
}

@test "an approach with 96 MB is killed for memory" {
  size_with APPROACH_MEMORY=96m
  # shellcheck disable=SC2086
  start_lab $RUN SIZE=provoked CONCURRENCY=300
  judged invalid "killed for memory" "What garbage collection took is unknown"
}

@test "an approach that is started anew in mid-run" {
  # shellcheck disable=SC2086
  start_lab run-hey $RUN
  restart() { docker restart --time 0 "$(container_of tomcat-virtual)"; }
  provoke restart
  judged invalid "The container under test was started" "of the requests failed"
}

@test "a rate that no 20 connections can carry, under k6" {
  # shellcheck disable=SC2086
  start_lab run-k6 $RUN CONCURRENCY=20 RATE=200
  judged invalid "The offered rate was missed: k6 started" "k6 dropped"
}

@test "a rate that no 20 connections can carry, under vegeta" {
  # shellcheck disable=SC2086
  start_lab run-vegeta $RUN CONCURRENCY=20 RATE=200
  judged invalid "The offered rate was missed: vegeta started"
}

@test "a Prometheus that is gone for part of the run" {
  # shellcheck disable=SC2086
  start_lab $RUN
  gone() {
    docker stop --time 0 "$(container_of prometheus)"
    wait_for_line "measure [5-9][0-9]" 30
    docker start "$(container_of prometheus)"
  }
  provoke gone
  judged invalid "Container metrics are missing for"
}

@test "a listen queue of 1, and a pool of 4 threads" {
  export BACKLOG=1
  # shellcheck disable=SC2086
  start_lab $RUN APPROACH=tomcat-platform CONCURRENCY=1000 PLATFORM_THREADS=900
  end_of_lab
  [[ $(run_of '.runs[0].reasons | join(" ")') == *"connection attempts had to be repeated"* ]]
  [[ $(run_of '.runs[0].reasons | join(" ")') == *"pool of 900 platform threads is smaller"* ]]
}

@test "an approach under a CPU quota of a third" {
  size_with APPROACH_CPUS=0.3
  # shellcheck disable=SC2086
  start_lab $RUN SIZE=provoked
  end_of_lab
  [[ $(run_of '.runs[0].reasons | join(" ")') == *"was throttled in"* ]]
}

@test "backend connections that are closed after each answer" {
  export KEEP_ALIVE_MS=1
  # shellcheck disable=SC2086
  start_lab $RUN APPROACH=webflux-netty
  end_of_lab
  local reasons sentence
  reasons=$(run_of '.runs[0].reasons | join(" ")')
  for sentence in "Backend connections were not kept" "Connections were reopened" "answers kept their connection open"; do
    [[ $reasons == *"$sentence"* ]] || { echo "'$sentence' is not in: $reasons"; return 1; }
  done
}

@test "a backend that fails one answer in five" {
  # shellcheck disable=SC2086
  start_lab $RUN DURATION=20s ERROR_SHARE=0.2
  judged invalid "of the requests failed or were not answered 2xx" "The backend answered"
}

@test "a generator that is killed" {
  # shellcheck disable=SC2086
  start_lab $RUN
  kill_ab() { docker exec "$(generator)" python3 -c '
import os, signal
for pid in filter(str.isdigit, os.listdir("/proc")):
    if open(f"/proc/{pid}/comm").read().strip() == "ab":
        os.kill(int(pid), signal.SIGKILL)'; }
  provoke kill_ab
  judged invalid "ab ended without a report"
}
