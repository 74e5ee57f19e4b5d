# Shared by the bats files. bats sets status, output and lines.
# shellcheck shell=bash disable=SC2154
LAB_ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
export LAB_RESULTS=$LAB_ROOT/.cache/tests/results # never the user's
mkdir -p "$LAB_RESULTS"
REAL_AWK=$(type -P awk)

# stub NAME BODY: a program of that name, first on the PATH of this test.
stub() {
  mkdir -p "$BATS_TEST_TMPDIR/bin"
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$BATS_TEST_TMPDIR/bin/$1"
  chmod +x "$BATS_TEST_TMPDIR/bin/$1"
  PATH="$BATS_TEST_TMPDIR/bin:$PATH"
}

# no_root: what is wrongly not refused starts no engine and installs none.
no_root() { stub id 'case $1 in -u | -g) echo 1000 ;; *) echo nobody ;; esac'; }

# A host of our making, without an engine, its hard limit of open files 20000: CPUS MEMORY_MB.
host_of() {
  stub uname 'echo Linux'
  # shellcheck disable=SC2329  # bin/doctor asks it
  ulimit() { echo 20000; }
  export -f ulimit
  stub docker 'exit 1'
  no_root
  stub pgrep 'exit 1'
  stub getconf "echo $1"
  stub awk "case \$* in *MemTotal*) echo $2 ;; *) exec $REAL_AWK \"\$@\" ;; esac"
}

# stubbed_lab: a checkout of our making in $CHECKOUT that starts no engine and builds nothing; the lock is ours, ports are free.
stubbed_lab() {
  CHECKOUT=$BATS_TEST_TMPDIR/lab
  mkdir -p "$CHECKOUT"
  cp -R "$LAB_ROOT/bin" "$LAB_ROOT/compose.yaml" "$CHECKOUT"
  { printf 'PROMETHEUS_PORT=1\nGRAFANA_PORT=2\nRESULTS_PORT=3\n' && cat "$LAB_ROOT/.env"; } >"$CHECKOUT/.env"
  printf '#!/bin/sh\n' | tee "$CHECKOUT/bin/engine" "$CHECKOUT/bin/prepare" "$CHECKOUT/bin/metrics" >/dev/null
  export LAB_LOCK=ours LAB_RESULTS=$CHECKOUT/results
}

# refused CODE WORDS...: the last `run` ended with CODE and one line that has all the words.
refused() {
  local code=$1 word
  shift
  [ "$status" -eq "$code" ] || { echo "exit $status, not $code: $output"; return 1; }
  [ "${#lines[@]}" -eq 1 ] || { echo "not one line: $output"; return 1; }
  for word in "$@"; do
    [[ $output == *"$word"* ]] || { echo "'$word' is not in: $output"; return 1; }
  done
}

lab_containers() { docker ps --all --quiet --filter label=com.docker.compose.project=loom-lab; }

# kept_jq ARGUMENTS...: in the container that tests/step keeps for it; runc now and then fails to enter one, which is 126
# with a message where jq's output would be.
kept_jq() {
  local code given=/dev/null printed=$BATS_TEST_TMPDIR/printed.$BASHPID
  [[ " $* " == *" --null-input "* ]] || { given=$BATS_TEST_TMPDIR/jq.$BASHPID && cat >"$given"; }
  for _ in 1 2 3; do
    code=0
    command docker exec --interactive "$LAB_JQ" jq "$@" <"$given" >"$printed" || code=$?
    [ $code -eq 126 ] || break
  done
  cat "$printed"
  return $code
}

json() { kept_jq --raw-output "$1" <"$2"; } # FILTER FILE

# http_get PORT PATH: the body that a published port of the lab answers.
http_get() {
  exec 9<>"/dev/tcp/127.0.0.1/$1"
  printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' "$2" >&9
  sed '1,/^\r$/d' <&9
  exec 9>&-
}

# query PROMQL FILTER: jq on what Prometheus answers.
query() { http_get 9090 "/api/v1/query?query=$1" >"$BATS_TEST_TMPDIR/answer" && json "$2" "$BATS_TEST_TMPDIR/answer"; }

# settles FILTER PROMQL EXPECTED: within 15 s.
settles() {
  local deadline=$((SECONDS + 15)) got
  until got=$(query "$2" "$1") && [ "$got" = "$3" ]; do
    [ $SECONDS -lt $deadline ] || { echo "$2: $got, not $3"; return 1; }
    sleep 0.5
  done
}

# start_lab [VERB] VARIABLES...: `make VERB`, by default run-ab, in a process group of its own, as in a terminal; its output
# in $log. A suite that runs in the background ignores SIGINT, and no shell below it could trap it.
start_lab() {
  local verb=run-ab listening=()
  ! env --default-signal=INT true 2>/dev/null || listening=(env --default-signal=INT)
  case $1 in
    *=*) ;;
    *) verb=$1 && shift ;;
  esac
  log=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}/log
  set -m
  ${listening[@]+"${listening[@]}"} make -C "$LAB_ROOT" "$verb" "$@" >"$log" 2>&1 3>&- &
  lab=$!
  set +m
}

# wait_for_line WORDS SECONDS: until the run says so.
wait_for_line() {
  local deadline=$((SECONDS + $2))
  until grep -q "$1" "$log"; do
    kill -0 "$lab" && [ $SECONDS -lt $deadline ] || { cat "$log"; return 1; }
    sleep 0.2
  done
}

container_of() {
  docker ps --all --quiet --filter label=com.docker.compose.project=loom-lab --filter "label=com.docker.compose.service=$1"
}

# stop_lab: ends what start_lab started, if it still runs, and waits for its end.
stop_lab() {
  [ -n "${lab:-}" ] || return 0
  ! kill -0 "$lab" 2>/dev/null || kill -TERM -- "-$lab"
  wait "$lab" 2>/dev/null || true
}

# end_of_lab: waits for what start_lab started; sets status; nothing may be left running.
end_of_lab() {
  status=0
  wait "$lab" || status=$?
  [ -z "$(lab_containers)" ] || { docker ps -a; cat "$log"; return 1; }
}

# run_of FILTER: jq on the experiment's summary.
run_of() { json "$1" "$(experiment_folder)/summary.json"; }

# fails RUN RULES...: of the experiment's summary, the run of that number failed all these rules of the verdict.
fails() {
  local number=$1 rule told
  shift
  told=$(run_of "[.runs[$number - 1].rules[] | select(.outcome == \"failed\").rule] | join(\" \")")
  for rule in "$@"; do
    [[ " $told " == *" $rule "* ]] || { echo "run $number failed '$told', not $rule"; return 1; }
  done
}

# no_figure_is_missing: in any run of the experiment's summary.
no_figure_is_missing() {
  local missing
  missing=$(run_of '[.runs[] | {throughput_rps, p50: (.latency_ms.p50 // .latency_ms.withheld.p50),
    p99: (.latency_ms.p99 // .latency_ms.withheld.p99), max: .latency_ms.max, cpu_seconds,
    cpu_ms_per_request, rss_max_bytes, vsz_max_bytes, threads_max, requests, errors, duration_s, allocated_bytes_per_request,
    heap: .live_bytes_per_request.heap} | to_entries[] | select(.value == null).key] | join(" ")')
  [ -z "$missing" ] || { echo "not known: $missing"; return 1; }
}

# only_the_host_spoilt: the experiment misses no run, and none is invalid but for what the host did or lacked, or what follows
# from CPU time that others took. Figures that are missing and another delay than the one asked for are the lab's fault.
only_the_host_spoilt() {
  [ "$(run_of 'def follows: IN("silent_end", "littles_law", "latency_grew_much");
    .missing == [] and .runs != [] and all(.runs[]; [.rules[] | select(.outcome == "failed")]
      | any(.[]; .rule | test("stolen$|foreign_cpu$|_wait_")) as $taken
      | all(.[]; .level != "invalid" or ($taken and (.rule | follows))
          or (.rule | IN("much_stolen", "much_foreign_cpu", "clock_stepped") or test("^(generator|backend)_(?!delay)"))))')" = true ]
}

# went_well CODE LOG: make ended with 0, or because a run is invalid (the lab's exit code 1) for nothing but what the host lacked.
went_well() {
  [ "$LAB_RESULTS/latest" -ef "$(experiment_folder)" ] || return 1
  [ "$1" -eq 0 ] || { grep -qE '^make.*: \*\*\* .* 1$' "$2" && [ "$(run_of 'any(.runs[]; .verdict == "invalid")')" = true ] &&
    only_the_host_spoilt; }
}

# experiment_folder: the folder of the experiment that this test, or its file's setup, made: its log tells.
experiment_folder() {
  local told
  told=$(sed -n 's/^results: //p' "${log:-$BATS_FILE_TMPDIR/log}" | tail -n 1)
  [ -n "$told" ] || { echo "no experiment is in the log" >&2; return 1; }
  case $told in /*) echo "$told" ;; *) echo "$LAB_ROOT/$told" ;; esac
}
