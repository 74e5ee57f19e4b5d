#!/usr/bin/env bats
# What bin/plan accepts and refuses, on hosts of our making, with no engine running.

load ../helpers

setup() {
  REAL_DOCKER=$(type -P docker)
  host_of 2 24000
  # Where nothing of a lab that is up listens.
  export PROMETHEUS_PORT=1 GRAFANA_PORT=2 RESULTS_PORT=3
}

plan() { plan_of ab "$@"; }
plan_of() { env "${@:2}" "$LAB_ROOT/bin/plan" "$1"; }

@test "a plain request is planned with the documented defaults" {
  run plan CONCURRENCY=1000
  [ "$status" -eq 0 ]
  [[ $output == *$'\nREQUESTS=\n'* ]]
  [[ $output == *$'\nDURATION_S=0\n'* ]]
  [[ $output == *RUN_APPROACHES=tomcat-platform,tomcat-virtual,webflux-netty* ]]
  [[ $output == *BACKEND_CONNECTIONS=1000* ]]
}

@test "a missing CONCURRENCY names the cure" {
  run plan
  refused 2 "CONCURRENCY is not set" "make run-ab CONCURRENCY="
}

@test "CONCURRENCY that is no whole number in range is refused with its value" {
  local value
  for value in abc 0 -5 1e9 1.5 010 '$(reboot)' '1 2' 99999999999999999999; do
    run plan "CONCURRENCY=$value"
    refused 2 "CONCURRENCY=$value" "use for instance"
  done
}

@test "more connections than ab opens is refused" {
  run plan CONCURRENCY=20001
  refused 2 CONCURRENCY=20001 20000
}

@test "fewer requests than connections is refused" {
  run plan CONCURRENCY=100 REQUESTS=99
  refused 2 REQUESTS=99 CONCURRENCY=100
}

@test "an unknown approach is refused with the names there are" {
  run plan CONCURRENCY=100 APPROACH=tomcat-virtual,jettison
  refused 2 APPROACH=jettison webflux-netty
}

@test "an approach given as a path or option is refused" {
  local value
  for value in ../etc --help 'a;b' ','; do
    run plan CONCURRENCY=100 "APPROACH=$value"
    [ "$status" -eq 2 ] || { echo "$value: $output"; return 1; }
  done
}

@test "a time that cannot be read is refused" {
  local value
  for value in 1h 0s -3 abc 2d 3601s; do
    run plan CONCURRENCY=100 "DURATION=$value"
    refused 2 "DURATION=$value"
  done
}

@test "DURATION is read in seconds and minutes" {
  run plan CONCURRENCY=100 DURATION=2m
  [[ $output == *DURATION_S=120* ]]
  run plan CONCURRENCY=100 DURATION=45
  [[ $output == *DURATION_S=45* ]]
}

@test "a duration that cannot hold the waves of a valid run is told with one that can" {
  local asked needed
  while read -r asked needed; do
    # shellcheck disable=SC2086  # one word a variable
    run plan CONCURRENCY=100 ${asked//,/ }
    [ "$status" -eq 0 ]
    [[ $output == *$'\n'"NOTE=${needed:+DURATION=}"*${needed:+"use DURATION=$needed or longer"}* ]] || { echo "$asked: not $needed in $output"; return 1; }
  done <<'END'
DURATION=20s 35s
DURATION=21s 35s
DURATION=22s
DURATION=60s,DELAY=1000 89s
DURATION=67s,DELAY=1000 89s
DURATION=68s,DELAY=1000
DURATION=16s,DELAY=0 35s
DURATION=17s,DELAY=0
DELAY=3000
DELAY=5000 437s
END
}

@test "a plan tells how long a run takes, and how long at most" {
  run plan CONCURRENCY=1000
  [[ $output == *$'\nEXPECTED_S=132\n'*$'LONGEST_S=382' ]] || { echo "$output"; return 1; }
  run plan CONCURRENCY=1000 DURATION=100s WARMUP_CAP=30s
  [[ $output == *$'\nEXPECTED_S=152\n'*$'LONGEST_S=162' ]] || { echo "$output"; return 1; }
  run plan CONCURRENCY=1000 DELAY=3000
  [[ $output == *$'\nWARMUP_CAP_S=220\n'* ]] || { echo "$output"; return 1; }
}

@test "a delay beyond a minute is refused" {
  run plan CONCURRENCY=100 DELAY=60001
  refused 2 DELAY=60001
}

@test "an endpoint is completed by what it needs and lacks" {
  local asked planned
  while read -r asked planned; do
    run plan CONCURRENCY=100 DELAY=250 "ENDPOINT=$asked"
    [ "$status" -eq 0 ]
    [[ $output == *$'\n'"ENDPOINT=$planned"$'\n'* ]] || { echo "$asked: not $planned in $output"; return 1; }
  done <<'END'
/capabilities /capabilities
/meetings?x=1 /meetings?x=1
/epoch-millis /epoch-millis?delayInMillis=250
/pinned?delayInMillis=0 /pinned?delayInMillis=0
/movies /movies?directorLastName=Allen&delayInMillis=250
/movies?directorLastName=Kubrick /movies?directorLastName=Kubrick&delayInMillis=250
/movies?delayInMillis=7 /movies?delayInMillis=7&directorLastName=Allen
/httpbin/block/0.3 /httpbin/block/0.3
/httpbin/block/20.000 /httpbin/block/20.000
END
}

@test "a completed endpoint is planned again as it is" {
  run plan CONCURRENCY=100 'ENDPOINT=/movies?directorLastName=Allen&delayInMillis=250'
  [[ $output == *$'\nENDPOINT=/movies?directorLastName=Allen&delayInMillis=250\n'* ]]
}

@test "an unknown endpoint is refused with the ones there are" {
  local value
  for value in capabilities / /nope '/capabilities;x' '/movies?a b' /capabilities/x '/meetings?x=$(reboot)'; do
    run plan CONCURRENCY=100 "ENDPOINT=$value"
    refused 2 "ENDPOINT=$value" /httpbin/block/SECONDS /pinned
  done
}

@test "an endpoint's delay out of range is refused" {
  local value
  for value in 60001 -1 abc '' 1.5; do
    run plan CONCURRENCY=100 "ENDPOINT=/epoch-millis?delayInMillis=$value"
    refused 2 "delayInMillis=$value" 60000
  done
  for value in 60.001 -1 abc 0.0001 1e1 007; do
    run plan CONCURRENCY=100 "ENDPOINT=/httpbin/block/$value"
    refused 2 "ENDPOINT=/httpbin/block/$value" "0 to 60 seconds"
  done
}

@test "an answer later than ab would wait for is refused" {
  run plan CONCURRENCY=100 DELAY=6667
  refused 2 DELAY=6667 "20001 ms at the earliest" "20000 ms in all"
  run plan CONCURRENCY=100 ENDPOINT=/httpbin/block/20.001
  refused 2 ENDPOINT=/httpbin/block/20.001 "20001 ms"
  run plan CONCURRENCY=100 'ENDPOINT=/pinned?delayInMillis=20001'
  refused 2 "20001 ms"
}

@test "/httpbin/block without its seconds names the cure" {
  run plan CONCURRENCY=100 ENDPOINT=/httpbin/block
  refused 2 "lacks its seconds" ENDPOINT=/httpbin/block/0.3
}

@test "threads are as many as connections unless they are asked for" {
  run plan CONCURRENCY=100
  [[ $output == *PLATFORM_THREADS=100* ]]
  run plan CONCURRENCY=100 PLATFORM_THREADS=4
  [[ $output == *PLATFORM_THREADS=4* ]]
  run plan CONCURRENCY=100 PLATFORM_THREADS=0
  refused 2 PLATFORM_THREADS=0
}

@test "backend connections are as many as connections unless they are asked for" {
  run plan CONCURRENCY=100
  [[ $output == *$'\n'BACKEND_CONNECTIONS=100$'\n'* ]]
  run plan CONCURRENCY=100 BACKEND_CONNECTIONS=10
  [[ $output == *$'\n'BACKEND_CONNECTIONS=10$'\n'* ]]
  [[ $output == *$'\nSUSPECT=\n'* ]]
  run plan CONCURRENCY=100 BACKEND_CONNECTIONS=0
  refused 2 BACKEND_CONNECTIONS=0
  run plan CONCURRENCY=100 BACKEND_CONNECTIONS=1
  refused 2 BACKEND_CONNECTIONS=1 BACKEND_CONNECTIONS=4
}

@test "an endpoint that needs no backend does not queue for its connections" {
  run plan CONCURRENCY=10000 ENDPOINT=/epoch-millis
  [ "$status" -eq 0 ]
  [[ $output == *$'\nSUSPECT=\n'* ]]
}

@test "an unknown size, JDK, GC or client is refused with the ones there are" {
  run plan CONCURRENCY=100 SIZE=huge
  refused 2 SIZE=huge auto ec2 smoke
  run plan CONCURRENCY=100 JDK=17
  refused 2 JDK=17 25 21
  run plan CONCURRENCY=100 GC=epsilon
  refused 2 GC=epsilon g1
  run plan CONCURRENCY=100 HTTP_CLIENT=curl
  refused 2 HTTP_CLIENT=curl apache jdk reactor
  run plan CONCURRENCY=100 SAVE_MOVIES=1
  refused 2 SAVE_MOVIES=1 true false
}

@test "a rate gets connections to spare, unless they are asked for" {
  run plan_of vegeta RATE=500
  [ "$status" -eq 0 ]
  [[ $output == *CONCURRENCY=1803* && $output == *RATE=500* && $output == *REQUESTS=$'\n'* ]]
  run plan_of k6 RATE=0.5 CONCURRENCY=30
  [ "$status" -eq 0 ]
  [[ $output == *CONCURRENCY=30* && $output == *RATE=0.5* ]]
}

@test "hey gets no more requests than it remembers" {
  run plan_of hey CONCURRENCY=9000
  [ "$status" -eq 0 ]
  run plan_of hey CONCURRENCY=100 REQUESTS=1000001
  refused 2 REQUESTS=1000001 1000000
}

@test "a rate is refused where the tool knows none, and asked for where it knows nothing else" {
  run plan_of ab RATE=500 CONCURRENCY=100
  refused 2 RATE=500 "make run-vegeta"
  run plan_of vegeta CONCURRENCY=100
  refused 2 "RATE is not set" "make run-vegeta RATE="
  run plan_of k6 RATE=500 REQUESTS=100
  refused 2 REQUESTS=100 DURATION
}

@test "a rate that is none is refused with its value" {
  local rate
  for rate in 0 -5 fast 1e3 200000 0.0; do
    run env RATE=$rate "$LAB_ROOT/bin/plan" vegeta
    refused 2 "RATE=$rate" "RATE=500"
  done
}

@test "the backend's delay may be a distribution" {
  local delay
  for delay in uniform:200:400 lognormal:300:900; do
    run plan CONCURRENCY=100 DELAY=$delay
    [ "$status" -eq 0 ]
    [[ $output == *DELAY=$delay* ]]
  done
  for delay in uniform:400:200 lognormal:0:9 lognormal:900:300 uniform:1 normal:1:2 uniform:1:99999; do
    run plan CONCURRENCY=100 DELAY=$delay
    refused 2 "DELAY=$delay"
  done
  run plan CONCURRENCY=100 ERROR_SHARE=2
  refused 2 ERROR_SHARE=2 ERROR_SHARE=0.01
}

@test "a size larger than the host is refused as the host's lack" {
  run plan CONCURRENCY=100 SIZE=ec2
  refused 3 SIZE=ec2 "32 CPUs" "has 2" SIZE=auto
}

@test "SIZE=ec2 is accepted by a host that has what it mirrors" {
  host_of 32 65536
  run plan CONCURRENCY=100 SIZE=ec2
  [ "$status" -eq 0 ]
  [[ $output == *APPROACH_CPUSET=0-15* ]]
}

@test "the flagship fits under 20000 open files with one smaller pool for all, and says so" {
  run plan CONCURRENCY=10000
  [ "$status" -eq 0 ]
  [[ $output == *PLATFORM_THREADS=10000* ]]
  [[ $output == *BACKEND_CONNECTIONS=9500* ]]
  [[ $output == *"SUSPECT=the backend pool"*9500*10000*20000* ]]
}

@test "more connections than open files allow is refused as the host's lack" {
  run plan CONCURRENCY=20000
  refused 3 CONCURRENCY=20000 20000 "ulimit -Hn"
}

@test "a pool so small that requests would only queue is refused" {
  run plan CONCURRENCY=19000
  refused 3 CONCURRENCY=19000 "raise the hard limit"
}

@test "connections beyond the ephemeral ports of one address are refused" {
  sed 's/^AB_MAX_CONNECTIONS=.*/AB_MAX_CONNECTIONS=80000/; s#^\. "\$(dirname.*#. "'"$LAB_ROOT"'/bin/lib.sh"#' \
    "$LAB_ROOT/bin/plan" >"$BATS_TEST_TMPDIR/plan"
  CONCURRENCY=70000 run bash "$BATS_TEST_TMPDIR/plan" ab
  refused 3 CONCURRENCY=70000 "ephemeral ports"
}

@test "a published port that another program holds is refused" {
  local holder port name
  holder=$("$REAL_DOCKER" run --detach --rm --publish 127.0.0.1::8000 loom-lab/tools python3 -m http.server 8000)
  port=$("$REAL_DOCKER" port "$holder" 8000)
  port=${port##*:}
  until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
  for name in PROMETHEUS_PORT GRAFANA_PORT RESULTS_PORT; do
    run plan CONCURRENCY=100 "$name=$port"
    refused 3 "$name=$port" "$name=$((port + 1))" || break
  done
  "$REAL_DOCKER" rm --force "$holder" >/dev/null
  refused 3 "$name=$port" "$name=$((port + 1))"
}

@test "results that cannot be written are refused" {
  rm -rf "$BATS_TEST_TMPDIR/lab" && mkdir "$BATS_TEST_TMPDIR/lab"
  cp -R "$LAB_ROOT/bin" "$LAB_ROOT/sizes" "$LAB_ROOT/.env" "$BATS_TEST_TMPDIR/lab/"
  echo "a file where the folder should be" >"$BATS_TEST_TMPDIR/lab/results"
  CONCURRENCY=100 run "$BATS_TEST_TMPDIR/lab/bin/plan" ab
  refused 3 "results/ cannot be written"
}

@test "results without room are refused" {
  stub df 'printf "Filesystem 1024-blocks Used Available Capacity Mounted\n/dev/x 100 88 12288 88%% /\n"'
  run plan CONCURRENCY=100
  refused 3 "results/ has 12 MB free"
}
