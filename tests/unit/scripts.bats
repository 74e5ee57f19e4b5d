#!/usr/bin/env bats
# The other host scripts, without an engine.

# shellcheck disable=SC2030,SC2031  # every test is a process
load ../helpers

@test "make alone prints every verb of users in 80 columns, and help-dev the others" {
  local shown dev verb
  shown=$(make -C "$LAB_ROOT") dev=$(make -C "$LAB_ROOT" help-dev)
  [ "$(awk 'length > 80' <<<"$shown$dev")" = "" ]
  while read -r verb; do
    [ "$(grep -cE "^  (run-[a-z]+ )*$verb( |\$)" <<<"$shown"$'\n'"$dev")" -eq 1 ] || { echo "$verb is missing"; return 1; }
  done < <(sed -nE 's/^([a-z-]+):.*## .*/\1/p' "$LAB_ROOT/Makefile"; printf 'run-%s\n' ab hey vegeta users)
  [[ $shown == *" sweep "* && $shown != *" lint "* ]]
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

@test "published without an engine is one message with the cure" {
  stub docker 'exit 1'
  stub systemctl 'exit 1'
  no_root
  run "$LAB_ROOT/bin/run" published
  refused 3 "not root" "docker group"
}

# reproducing PLAN CODE: loomlab plans that for a benchmark; each step of it ends with the code, and tells $CHECKOUT/ran what it was given.
reproducing() {
  stubbed_lab
  stub docker "case \"\$*\" in
    *' loom-lab/loadgen reproduce '*) printf '$1' ;;
    *' loom-lab/loadgen claims '*) echo answers ;;
    *' --tell') ;;
    *' loom-lab/loadgen '[rp][el]*) all=\$*; echo \"\${all##*loadgen } \${NAME:-} \${REPEATS:-} \${GC:-}\" >>$CHECKOUT/ran; exit $2 ;;
    esac"
}

@test "reproduce makes what is missing, each with its own settings and no other, and tells the answers" {
  reproducing 'finish RESUME=a\nscenario NAME=x REPEATS=2\n' 1
  BENCHMARK=virtual-threads-hey GC=g1 run "$CHECKOUT/bin/run" reproduce
  [ "$status" -eq 1 ]
  [ "$(cat "$CHECKOUT/ran")" = $'resume a   \nplan scenario x 2 ' ] || { cat "$CHECKOUT/ran"; return 1; }
  [[ $output == *answers* ]]
}

@test "reproduce ends where a run is interrupted, and tells the answers that there are" {
  reproducing 'scenario NAME=x REPEATS=2\nscenario NAME=y REPEATS=2\n' 130
  BENCHMARK=virtual-threads-hey run "$CHECKOUT/bin/run" reproduce
  [ "$status" -eq 130 ]
  [ "$(cat "$CHECKOUT/ran")" = "plan scenario x 2 " ]
  [[ $output == *answers* ]]
}

@test "reproduce takes no line that is no step" {
  reproducing 'scenario NAME=x;reboot\nscenario NAME=$(reboot)\nA sentence.\n' 0
  BENCHMARK=virtual-threads-hey run "$CHECKOUT/bin/run" reproduce
  [ "$status" -eq 0 ]
  [ ! -e "$CHECKOUT/ran" ]
}

@test "reproduce with PLAN=1 tells the plan and makes nothing" {
  reproducing 'scenario NAME=x REPEATS=2\n' 0
  PLAN=1 BENCHMARK=virtual-threads-hey run "$CHECKOUT/bin/run" reproduce
  [ "$status" -eq 0 ]
  [[ $output == *"scenario NAME=x REPEATS=2"* ]]
  [ ! -e "$CHECKOUT/ran" ]
}

# flipping SETTINGS...: flip with them; $CHECKOUT/ran has what each condition is planned with.
flipping() {
  stubbed_lab
  stub docker "case \"\$*\" in
    *' loom-lab/loadgen plan '*) all=\$*; echo \"\${all##*loadgen plan }|\${RATE:-}|\${SLO:-}|\${DELAY:-}|\${POOL:-}|\${REPEATS:-}|\${JFR:-}|\${A:-}|\${B:-}\" >>$CHECKOUT/ran ;;
    esac"
  run env RATE=90 SLO='p99<2s' REPEATS=4 PLAN=1 "$@" "$CHECKOUT/bin/run" flip
}

@test "flip plans a condition each, with what it changes" {
  flipping APPROACH=jetty-platform,jetty-virtual
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  diff "$CHECKOUT/ran" - <<'END'
sweep --tell|90||||4|||
capacity --tell||p99<2s|||4|||
sweep --tell|90||900||4|||
sweep --tell|90|||91|4|||
sweep --tell|90|||||1||
END
  rm "$CHECKOUT/ran"
  LAB=swarm flipping APPROACH=jetty-platform,jetty-virtual # which records nothing
  [ "$status" -eq 0 ] && [ "$(wc -l <"$CHECKOUT/ran")" -eq 4 ] && ! grep '|1||$' "$CHECKOUT/ran"
}

@test "flip gives both sides what a condition changes of the service, and leaves conditions out that are not said" {
  flipping APPROACH=jetty-virtual A=GC=g1 SLOW='ENV:X=1;DELAY=500' SMALL='ENV:Y=2'
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  diff "$CHECKOUT/ran" - <<'END'
compare --tell|90||||4||GC=g1|
capacity --tell||p99<2s|||4||GC=g1|
compare --tell|90||500||4||GC=g1;ENV:X=1|;ENV:X=1
compare --tell|90||||4||GC=g1;ENV:Y=2|;ENV:Y=2
compare --tell|90|||||1|GC=g1|
END
}

@test "flip takes no answers for slow, and no pool for small, by another delay or request than the one it knows" {
  flipping APPROACH=jetty-platform,jetty-virtual ENDPOINT=/httpbin/block/0.3
  [ "$(cut -d'|' -f 1 "$CHECKOUT/ran" | paste -sd' ')" = "sweep --tell capacity --tell sweep --tell" ] || { cat "$CHECKOUT/ran"; return 1; }
  rm "$CHECKOUT/ran"
  flipping APPROACH=jetty-platform,jetty-virtual DELAY=2000
  [ "$(cut -d'|' -f 1,4,5 "$CHECKOUT/ran" | paste -sd' ')" = "sweep --tell|2000| capacity --tell|2000| sweep --tell|2000|" ] || { cat "$CHECKOUT/ran"; return 1; }
}

@test "flip refuses what are not two, and what sets nothing" {
  flipping APPROACH=headline
  refused 2 APPROACH=headline
  flipping APPROACH=jetty-virtual,jetty-virtual
  refused 2 APPROACH=jetty-virtual,jetty-virtual
  flipping APPROACH=jetty-virtual A=GC=g1 SLOW='DELY=500'
  refused 2 DELY=500
  flipping APPROACH=jetty-platform,jetty-virtual SLOW=ENV:X=1 # which of the two would have it?
  refused 2 ENV:X=1
  flipping APPROACH=jetty-platform,jetty-virtual SMALL=SCALE=0.1
  refused 2 SCALE=0.1
  echo '${PAYMENTS_MS:-1}' >"$BATS_TEST_TMPDIR/mine.yaml"
  flipping SUBJECTS="$BATS_TEST_TMPDIR/mine.yaml" A=ENV:X=1 SLOW=PAYMENT_MS=9
  refused 2 PAYMENT_MS=9
  flipping SUBJECTS="$BATS_TEST_TMPDIR/mine.yaml" A=ENV:X=1 SLOW=PAYMENTS_MS=9
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

@test "a target's certificates are checked by those of CA_FILE, and a verb that needs containers takes no target" {
  stubbed_lab
  stub docker "case \"\$*\" in *' loom-lab/loadgen plan run-users --tell') echo \"\$*\" >>$CHECKOUT/ran ;; esac"
  touch "$BATS_TEST_TMPDIR/ca.pem"
  export PLAN=1 CONCURRENCY=1
  TARGET=https://localhost/x CA_FILE=$BATS_TEST_TMPDIR/ca.pem run "$CHECKOUT/bin/run" run-users
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  grep -qF -- "--volume $BATS_TEST_TMPDIR/ca.pem:/ca.pem:ro --env SSL_CERT_FILE=/ca.pem" "$CHECKOUT/ran" || { cat "$CHECKOUT/ran"; return 1; }
  TARGET=https://localhost/x CA_FILE=$BATS_TEST_TMPDIR/none run "$CHECKOUT/bin/run" run-users
  refused 2 CA_FILE= "no file"
  run "$CHECKOUT/bin/variables.sh" compare TARGET
  refused 2 TARGET "make compare" sweep
}

@test "a lab is by Compose, or on a swarm that this engine manages" {
  stubbed_lab
  unset LAB_LOCK
  stub docker 'case $* in "info --format {{.Swarm.ControlAvailable}}") echo false ;; esac'
  export CONCURRENCY=7
  LAB=podman run "$CHECKOUT/bin/run" run-ab
  refused 2 LAB=podman compose swarm
  LAB=swarm run "$CHECKOUT/bin/run" run-ab
  refused 3 LAB=swarm "docker swarm init"
}

@test "a swarm whose roles have not one ready node each is refused before anything starts" {
  stub docker 'case $* in
    *ControlAvailable*) echo true ;;
    *role=backend*) [ -z "$BACKEND" ] || printf "%s\n" "$BACKEND" ;;
    "node ls"*) echo "x Ready Active" ;;
    *) echo "$*" >&2; exit 9 ;;
    esac'
  checked() { BACKEND=$1 LAB=swarm run bash -c 'set -euo pipefail && . "$0/bin/lib.sh" && stack_of() { :; } && check_lab a' "$LAB_ROOT"; }
  checked "b Ready Active"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  checked ""
  refused 3 "role backend (no node has it)" "docker node update --label-add loom-lab.role=backend NODE."
  checked "b Down Active"
  refused 3 "role backend (b Down Active)" "start its engine"
  checked $'b Ready Active\nc Ready Active'
  refused 3 "role backend (b Ready Active, c Ready Active)" "--label-rm loom-lab.role NODE"
}

# finishing: a lab whose killed experiment cannot be summed up.
finishing() {
  stubbed_lab
  stub docker "case \"\$*\" in
    *' loom-lab/loadgen finish') exit 4 ;;
    *' loom-lab/loadgen resume '*) echo \"\${@: -1}\" >$CHECKOUT/resumed; exit 2 ;;
    esac"
}

@test "a killed experiment that cannot be summed up does not keep another from being resumed" {
  finishing
  RESUME=mine run "$CHECKOUT/bin/run" finish
  [ "$status" -eq 2 ]
  [ "$(cat "$CHECKOUT/resumed")" = mine ]
  [[ $output == *"a killed experiment could not be summed up (see above); its files stay as they are"* ]]
}

@test "finish without RESUME fails where a killed experiment cannot be summed up" {
  finishing
  run "$CHECKOUT/bin/run" finish
  [ "$status" -eq 4 ]
  [ ! -e "$CHECKOUT/resumed" ]
}

@test "compose.yaml describes every approach in the same way, and scenarios and published benchmarks name no other" {
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

@test "Docker's client takes what loomlab makes of all services for a swarm" {
  LAB=swarm
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  local services taken
  services=$(compose --profile '*' config --services | grep -vx loadgen)
  # shellcheck disable=SC2086  # one word a service
  taken=$(compose --profile '*' config --format json $services | loomlab --interactive -- stack | docker stack config --compose-file -)
  [ "$(grep -c '^      endpoint_mode: dnsrr$' <<<"$taken")" -eq "$(wc -l <<<"$services")" ] || { echo "$taken"; return 1; }
}

@test "a process that has ended is gone, though its parent has not asked for its end" {
  [ -r /proc/self/stat ] || skip "needs /proc"
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  local token parent
  bash -c 'sleep 60 & echo $!; exec sleep 60' >"$BATS_TEST_TMPDIR/child" 3>&- &
  parent=$!
  until [ -s "$BATS_TEST_TMPDIR/child" ]; do sleep 0.05; done
  token=$(token_of "$(cat "$BATS_TEST_TMPDIR/child")")
  is_live "$token"
  kill "$(cat "$BATS_TEST_TMPDIR/child")"
  until grep -q ') Z' "/proc/$(cat "$BATS_TEST_TMPDIR/child")/stat"; do sleep 0.05; done
  run is_live "$token"
  kill "$parent"
  [ "$status" -eq 1 ]
}

@test "a process of another start holds nobody up, one that cannot be seen from here does" {
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  run is_live "$(token_of $$ | sed 's/[^ ]*$/0/')"
  [ "$status" -eq 1 ]
  is_live "$(HOST_ID=another && token_of 1 | sed 's/[^ ]*$/0/')"
  is_live "what nobody wrote"
}

# The engine's containers are what $CONTAINERS says; what it is asked is in $asked.
locking() {
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  unset LAB_LOCK
  asked=$BATS_TEST_TMPDIR/asked
  locks() { printf '%s|%s|%s\n' "$MINE" "$(token_of $$)" me; }
  stub docker "echo \"\$*\" >>$asked; case \$* in ps*) printf '%s\n' \"\$CONTAINERS\" ;; esac"
}

ID=0123456789ab

@test "the lab of another checkout that is up is refused, and the lock is given back" {
  locking
  export CONTAINERS="$ID|running||$LAB_ROOT|"
  take_lock "a test"
  unset LAB_LOCK
  CONTAINERS="$ID|running||/another|"
  run take_lock "a test"
  refused 3 "the lab of /another is up"
  grep -q "^volume rm $MINE" "$asked"
  run grep '^rm ' "$asked"
  [ "$status" -eq 1 ]
}

@test "what a killed experiment left, and a stopped lab of another checkout, are removed; what is no container's ID is not" {
  locking
  export CONTAINERS="$ID|running|2026-dead|$LAB_ROOT|backend"$'\n'"aaaaaaaaaaaa|exited||/another|"$'\n'"--volumes|exited|x|/y|"
  run take_lock "a test"
  [[ $output == *"experiment 2026-dead of $LAB_ROOT was killed"*"make up in $LAB_ROOT"* ]]
  [ "$(grep '^rm ' "$asked" | sort | paste -sd, -)" = "rm --force --volumes $ID,rm --force --volumes aaaaaaaaaaaa" ]
}

@test "a lock whose process lives is refused with its owner, and one that was removed meanwhile is none" {
  locking
  export CONTAINERS=""
  locks() { echo; }
  take_lock "a test"
  unset LAB_LOCK
  # shellcheck disable=SC2329  # the lab calls it
  locks() { echo "loom-lab-lock-1|$(token_of $$)|/another (make up)"; }
  run take_lock "a test"
  refused 3 "in use by /another (make up), process $$" "docker volume rm loom-lab-lock-1"
}

@test "what the engine knows of a killed experiment's containers is with its runs before they are removed, but not through links" {
  locking
  local results=$BATS_TEST_TMPDIR/results run
  for run in 1-a 2-b 3-a-twin 4-a-try-2 elsewhere; do
    mkdir -p "$results/e/runs/$run/raw" && touch "$results/e/runs/$run/raw/request.json"
  done
  touch "$results/e/runs/1-a/run.json"
  mv "$results/e/runs/elsewhere" "$results"
  ln -s ../../elsewhere "$results/e/runs/5-a"
  stub docker "case \$* in
    ps*) printf '%s\n' \"\$CONTAINERS\" ;;
    inspect*) echo '[{}]' ;;
    logs*) echo \"said by \$2\" ;;
    rm*) (cd $results && find . -name '*.log' -o -name container.json) | sort >>$BATS_TEST_TMPDIR/there ;;
    esac"
  export CONTAINERS="$ID|exited|e|$LAB_ROOT||loom-lab-a-1|a|$results"$'\n'"bbbbbbbbbbbb|exited|e|$LAB_ROOT||loom-lab-generator-7-1|loadgen|$results"
  CONTAINERS="$CONTAINERS"$'\n'"cccccccccccc|exited|e|$LAB_ROOT||loom-lab-generator-7-1-2|loadgen|$results"
  take_lock "a test"
  [ "$(sort -u "$BATS_TEST_TMPDIR/there" | paste -sd' ' -)" = "./e/runs/2-b/raw/loomlab-2.log ./e/runs/2-b/raw/loomlab.log \
./e/runs/3-a-twin/raw/loomlab-2.log ./e/runs/3-a-twin/raw/loomlab.log ./e/runs/4-a-try-2/raw/a.log \
./e/runs/4-a-try-2/raw/container.json ./e/runs/4-a-try-2/raw/loomlab-2.log ./e/runs/4-a-try-2/raw/loomlab.log" ] || { cat "$BATS_TEST_TMPDIR/there"; return 1; }
  [ "$(cat "$results/e/runs/4-a-try-2/raw/"{a.log,container.json,loomlab.log} | paste -sd' ' -)" = "said by $ID [{}] said by bbbbbbbbbbbb" ]
}

@test "an experiment is left that another host measures, or a process of this one, and not one whose process is gone" {
  # shellcheck source=bin/lib.sh
  . "$LAB_ROOT/bin/lib.sh"
  LAB_RESULTS=$BATS_TEST_TMPDIR/results
  mkdir -p "$LAB_RESULTS"/{far,here,gone,linked,'a b',none,folder/.owner,pipe}
  mkfifo "$LAB_RESULTS/pipe/.owner"
  (HOST_ID=another && token_of 1) >"$LAB_RESULTS/far/.owner"
  token_of $$ | tee "$LAB_RESULTS/here/.owner" "$LAB_RESULTS/a b/.owner" | sed 's/[^ ]*$/0/' >"$LAB_RESULTS/gone/.owner"
  ln -s ../here/.owner "$LAB_RESULTS/linked"
  ln -s here "$LAB_RESULTS/latest"
  [ "$(others_at_work | paste -sd' ' -)" = "far here" ] || { others_at_work; return 1; }
  [ ! -e "$LAB_RESULTS/gone/.owner" ]
}

@test "an engine that does not stop is told of, and not waited for without end; another process of its number is left" {
  [ -r /proc/self/comm ] || skip "needs /proc"
  local here=$BATS_TEST_TMPDIR
  mkdir -p "$here/lab/bin"
  cp "$LAB_ROOT"/bin/*.sh "$here/lab/bin"
  sed "s|/run/loom-lab/|$here/|; s|TIMEOUT_SECONDS=60|TIMEOUT_SECONDS=1|" "$LAB_ROOT/bin/engine" >"$here/lab/bin/engine"
  cp "$(type -P sleep)" "$here/dockerd"
  (trap '' TERM && exec "$here/dockerd" 60) 3>&- &
  echo $! >"$here/dockerd.pid"
  until grep -qx dockerd "/proc/$!/comm"; do sleep 0.05; done
  run bash "$here/lab/bin/engine" stop
  kill -KILL $!
  refused 3 "process $(cat "$here/dockerd.pid")" "after 1 s"
  sleep 60 3>&- &
  echo $! >"$here/dockerd.pid"
  run bash "$here/lab/bin/engine" stop
  kill $!
  refused 3 "nothing to stop"
}

# pruning ANSWER: five experiments, of which two stay, are asked for; what is left then.
pruning() {
  export LAB_RESULTS=$BATS_TEST_TMPDIR/results
  local name
  for name in 20260101T000000Z-a 20260102T000000Z-b 20260103T000000Z-c 20260104T000000Z-d 20260105T000000Z-e mine; do
    mkdir -p "$LAB_RESULTS/$name" && touch "$LAB_RESULTS/$name/order.json"
  done
  mkdir -p "$LAB_RESULTS/20250101T000000Z-no-experiment"
  ln -sfn 20260101T000000Z-a "$LAB_RESULTS/latest"
  echo "another 1 0" >"$LAB_RESULTS/20260102T000000Z-b/.owner"
  KEEP=2 run "$LAB_ROOT/bin/prune" <<<"$1"
  [ "$status" -eq 0 ] || return
  (cd "$LAB_RESULTS" && printf '%s ' *)
}

@test "two clones of a host are two hosts, and so are two namespaces of processes" {
  host() {
    WHO=$1 WHERE=${2:-} bash -c 'hostname() { echo "$WHO"; }; readlink() { echo "$WHERE"; }; . "$0" && echo "$HOST_ID"' "$LAB_ROOT/bin/lib.sh"
  }
  [ "$(host a)" = "$(host a)" ]
  [ "$(host a)" != "$(host b)" ]
  [ "$(host a)" != "$(host a x)" ]
}

@test "prune neither counts nor removes folders of the future, links and names of several lines" {
  export LAB_RESULTS=$BATS_TEST_TMPDIR/results
  local name odd=$'x\n20990101T000000Z-y' before
  mkdir -p "$LAB_RESULTS"/{20260101T000000Z-a,20260102T000000Z-b,elsewhere,"29990101T000000Z-c","20250101T000000Z-$odd","-rf"}
  ln -s elsewhere "$LAB_RESULTS/20250102T000000Z-link"
  for name in "$LAB_RESULTS"/*; do touch "$name/order.json"; done
  before=$(ls -1b "$LAB_RESULTS")
  KEEP=2 run "$LAB_ROOT/bin/prune" <<<yes
  [ "$status" -eq 0 ]
  [ "$(ls -1b "$LAB_RESULTS")" = "$before" ]
  KEEP=0 run "$LAB_ROOT/bin/prune" <<<yes
  [ "$(ls -1b "$LAB_RESULTS")" = "$(grep -vE '^2026' <<<"$before")" ]
}

@test "prune removes experiments but for the newest, the latest, those at work and what is none, and only if told yes" {
  local all="20250101T000000Z-no-experiment 20260101T000000Z-a 20260102T000000Z-b 20260103T000000Z-c 20260104T000000Z-d 20260105T000000Z-e latest mine "
  [ "$(pruning no)" = "$all" ]
  [ "$(pruning yes)" = "${all/20260103T000000Z-c /}" ]
  KEEP=0x2 run "$LAB_ROOT/bin/prune"
  refused 2 KEEP=0x2
}
