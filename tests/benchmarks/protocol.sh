# CPU per request of one container at a time, all under one protocol: one CPU and 1,524 MiB, the lab's backend, ab -kl with CONNECTIONS
# connections: ten bursts of 8 requests per connection, then 40 per connection that count. TRIES (5) rounds, each of which begins with
# another contender; each run is appended to benchmarks/cost.jsonl and counted the next time. A run that lost over 5 % of its CPU to a
# hypervisor, or over 20 % to other programs, is made again. Lines of every revision count, and each tells its own as `of`: after a change
# of services/ use another SERIES. Source it after benchmarks/lib.sh.
# shellcheck shell=bash

TRIES=${TRIES:-5} CONNECTIONS=${CONNECTIONS:-1000} BENCH=loom-lab-cost
[[ $TRIES =~ ^[1-9][0-9]?$ ]] || die "$BAD_REQUEST" "TRIES=$TRIES is not a whole number from 1 to 99: use for instance TRIES=5."
[[ $CONNECTIONS =~ ^[1-9][0-9]{0,3}$ ]] || die "$BAD_REQUEST" "CONNECTIONS=$CONNECTIONS is not a whole number from 1 to 9999: use for instance CONNECTIONS=1000."
OF=$(git -C "$LAB_ROOT" rev-parse --short HEAD)
BURSTS=10 BURST=$((8 * CONNECTIONS)) COUNTED=$((40 * CONNECTIONS))

container() { docker run --detach --network $BENCH --ulimit nofile=20000 --name "$BENCH-$1" --network-alias "$1" "${@:2}" >/dev/null; }

# under_test ARGUMENTS...: the container whose CPU is counted.
under_test() { container app --init --cpuset-cpus 1 --cpus 1 --memory 1524m --sysctl net.core.somaxconn=8192 "$@"; }

# lab_approach IMAGE: a service of the lab, with the limits that compose.yaml gives all of them.
lab_approach() {
  under_test --env LAB_BACKEND_URL=http://backend:8080 --env LAB_PLATFORM_THREADS="$CONNECTIONS" \
    --env LAB_BACKEND_CONNECTIONS=$((CONNECTIONS + 4)) --env LAB_MAX_CONNECTIONS=20000 --env LAB_BACKLOG=8192 \
    --env LAB_CONNECT_TIMEOUT_MS=5000 --env LAB_RESPONSE_TIMEOUT_MS=10000 --env LAB_POOL_TIMEOUT_MS=10000 \
    --env LAB_KEEP_ALIVE_MS=60000 --env LAB_HTTP_CLIENT="${HTTP_CLIENT:-default}" --env LAB_STYLE=lean --env LAB_LIMIT=0 --env LAB_SAVE_MOVIES=false \
    --env GC="${GC:-parallel}" --env LAB_HEAP_PERCENT=60 "$1"
}

ab() { docker exec $BENCH-loadgen ab -q -k -l -s 30 -c "$1" -n "$2" -H "Authorization: token" "http://app:8080$TARGET"; }

# The approach's CPU seconds so far, then, of its CPU, all time, stolen time, time in which it was idle, and time in which it served
# interrupts, in seconds.
spent() {
  docker exec $BENCH-app bash -c '
    if [ -e /sys/fs/cgroup/cpu.stat ]; then sed -n "s/^usage_usec \(.*\)/\1000/p" /sys/fs/cgroup/cpu.stat
    else cat /sys/fs/cgroup/cpuacct/cpuacct.usage; fi
    sed -n "s/^cpu1 //p" /proc/stat' | jq --slurp --compact-output '[.[0] / 1e9, (.[1:9] | add) / 100, .[8] / 100, (.[4] + .[5]) / 100, (.[6] + .[7]) / 100]'
}

one_run() { # CONTENDER ROUND
  local burst before told after
  begin "$1"
  for _ in {1..300}; do
    ! ab 1 1 >/dev/null 2>&1 || break
    sleep 0.2
  done
  ab 1 1 >/dev/null 2>&1 || die "$RUN_INVALID" "$1 does not answer: its log ends with '$(docker logs $BENCH-app 2>&1 | tail -n 1)'."
  for ((burst = 1; burst <= BURSTS; burst++)); do ab "$CONNECTIONS" $BURST >/dev/null; done
  before=$(spent)
  told=$(ab "$CONNECTIONS" $COUNTED)
  after=$(spent)
  docker rm --force $BENCH-app >/dev/null
  jq --null-input --compact-output --arg series "$SERIES" --arg what "$WHAT" --arg contender "$1" --argjson connections "$CONNECTIONS" \
    --arg of "$OF" --arg under "$UNDER" --argjson round "$2" \
    --arg ended "$(date -u +%Y-%m-%dT%H:%M:%SZ)" --argjson after "$after" --argjson before "$before" \
    --argjson complete "$(sed -n 's/^Complete requests: *//p' <<<"$told")" \
    --argjson failed "$(sed -n 's/^Failed requests: *//p' <<<"$told")" \
    --argjson non2xx "$(sed -n 's/^Non-2xx responses: *//p' <<<"$told" | grep . || echo 0)" \
    --argjson rps "$(sed -nE 's/^Requests per second: *([0-9.]+).*/\1/p' <<<"$told")" '
    [$after, $before] | transpose | map(.[0] - .[1]) as [$cpu_s, $all_s, $stolen_s, $idle_s, $interrupts_s]
    # Interrupts are no program; where the kernel counts them among the CPU time of the approach, they are in both sums.
    | ($all_s - $idle_s - $stolen_s - $interrupts_s - $cpu_s) as $others_s
    | (if $others_s < 0 then [0, $others_s + $interrupts_s] | max else $others_s end) as $foreign_s
    | {series: $series, ended: $ended, of: $of, under: $under, what: $what, contender: $contender, round: $round,
      connections: $connections, complete: $complete, failed: ($failed + $non2xx), throughput_rps: $rps,
      cpu_ms_per_request: ($cpu_s * 1000 / $complete), steal_share: ($stolen_s / $all_s),
      foreign_share: ($foreign_s / $all_s)}' >>"$LINES_FILE"
  tail -n 1 "$LINES_FILE" | jq --exit-status '.failed <= 0.01 * .complete' >/dev/null ||
    die "$RUN_INVALID" "over 1 % of the requests to $1 failed (the last line of $LINES_FILE): mend that, and start again."
}

remove_all() {
  docker rm --force $BENCH-app $BENCH-backend $BENCH-loadgen >/dev/null 2>&1 || true
  docker network rm $BENCH >/dev/null 2>&1 || true
}

# MINE selects the lines of this question that count. Lines of before 2026-11-25 do not tell what other programs took.
MINE='.series == $series and .what == $what and .under == $under and .connections == $connections and .steal_share <= 0.05
  and (.foreign_share // 0) <= 0.2 and .failed <= 0.01 * .complete'
mine() { # ARGUMENTS AND FILTER: jq on the array of these lines
  jq --slurp --arg series "$SERIES" --arg what "$WHAT" --arg under "$UNDER" --argjson connections "$CONNECTIONS" "${@:1:$#-1}" \
    "map(select($MINE)) | ${!#}" <"$LINES_FILE"
}

# missing CONTENDER ROUND: no run of that round counts.
missing() {
  local answer
  answer=$(mine --arg contender "$1" --argjson round "$2" 'any(.contender == $contender and .round == $round) | not') ||
    die "$HOST_CANNOT" "$LINES_FILE could not be read: see above."
  [ "$answer" = true ]
}

# run_rounds CONTENDER...: all that are missing, in turn. `begin CONTENDER` starts one; TARGET and DELAY_MS are what is
# asked for; UNDER tells what all of them share.
run_rounds() {
  local contenders="$*" round contender tries
  trap remove_all EXIT
  remove_all
  docker network create $BENCH >/dev/null
  container backend --cpuset-cpus 0 --env BACKEND_DELAY="$DELAY_MS" --env LAB_BACKLOG=8192 --env LAB_MAX_CONNECTIONS=20000 \
    --env LAB_HEAP_PERCENT=20 "loom-lab/backend:jdk${JDK:-25}"
  container loadgen --cpuset-cpus 0 --entrypoint sleep loom-lab/loadgen infinity
  for ((round = 1; round <= TRIES; round++)); do
    for contender in $contenders; do
      tries=0
      while missing "$contender" "$round"; do
        [ $((tries += 1)) -le 5 ] || die "$HOST_CANNOT" "others took too much CPU time from each of five runs of $contender: start again at a quieter time."
        step "$WHAT: $contender, run $round of $TRIES"
        one_run "$contender" "$round"
      done
    done
    contenders="${contenders#* } ${contenders%% *}"
  done
}

# table: each contender's runs and their median; then the geometric mean of its runs ÷ those of the first in the same rounds, with its
# 95 % interval.
table() { # CONTENDER...
  local contender
  for contender in "$@"; do
    mine --compact-output --arg a "$contender" --arg b "$1" '
      def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
      def round3: . * 1000 | round / 1000;
      def rounds($name): map(select(.contender == $name)) | INDEX(.round) | map_values(.cpu_ms_per_request);
      rounds($a) as $as | rounds($b) as $bs | [$as[]] | select(. != [])
      | {text: "\($a): \(sort | map(round3 | tostring) | join(", ")) ms per request, median \(median | round3), {0} of \($b)",
         ratios: [[$as | to_entries[] | select($bs[.key]) | .value / $bs[.key]]]}'
  done | ratios
}
