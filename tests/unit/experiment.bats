#!/usr/bin/env bats
# A whole experiment of two runs, with an engine of our making.

# shellcheck disable=SC2030,SC2031  # every test is a process
load ../helpers

setup() {
  stubbed_lab
  ASKED=$BATS_TEST_TMPDIR/asked
  EXPERIMENT=$CHECKOUT/results/e
  unset COMPOSE_FILE CONTAINER_METRICS
  export UP="" JUDGED=0 LASTS=0 MEASURED=0
  stub docker "echo \"\$*\" | sed 's#.*loom-lab/loadgen ##; s#compose --project-directory [^ ]* ##; s# --wait-timeout=200##' >>$ASKED
    [ \"\$1 \$2\" != 'run --rm' ] || echo \"\$*\" >>$BATS_TEST_TMPDIR/loomlab
    case \$* in
      'info --format {{.MemTotal}}') echo 8589934592 ;;
      info*ServerVersion*) echo '\"engine\": \"28\"' ;;
      'image inspect'*) echo sha256:0123456789abcdef ;;
      ps*service*) echo \"\$UP\" ;;
      *'loadgen plan run-ab') mkdir -p $EXPERIMENT/runs && touch $EXPERIMENT/order.json
        printf '%s\n' LAB_EXPERIMENT=e EXPECTED_S=120 LONGEST_S=300 BACKEND_WARMUP_S=0 NOTE= DELAY=300 \
          \"APPROACHES=\${PAIR:+a}\$([ -n \"\${PAIR:-}\" ] || echo a,b)\" \
          \"\${PAIR:-run 1-a a GC=g1 EXPECTED_S=120 LONGEST_S=300\$'\\n'run 2-b b GC=zgc EXPECTED_S=60 LONGEST_S=150}\" ;;
      *'loadgen judge /results/e/runs/1-a') exit \$JUDGED ;;
      *'loadgen again '*) echo 'run 1-a-try-2 a GC=g1 EXPECTED_S=60 LONGEST_S=150' ;;
      *'loadgen measure '*) [ -z \"\${GONE:-}\" ] || exec rm -r $EXPERIMENT
        cp $EXPERIMENT/.owner $BATS_TEST_TMPDIR/owner
        for folder in $EXPERIMENT/runs/*; do touch \$folder/raw/request.json && mkdir -p \$folder/generators; done ;;
      *'loadgen summarise '*) touch $EXPERIMENT/summary.json ;;
      *' up '*) echo \"\$GC \$LAB_EXPERIMENT\" >>$BATS_TEST_TMPDIR/settings && echo \"\$COMPOSE_FILE\" >>$BATS_TEST_TMPDIR/files ;;
      *' ps --all --quiet '*) echo 0123456789ab ;;
      'logs --follow'*) exec sleep \$LASTS ;;
      'inspect --format {'*) echo \$MEASURED ;;
      inspect*) echo '[{}]' ;;
    esac"
}

# order PATTERN: of what was asked of the engine, what fits, on one line.
order() { grep -oE "$1" "$ASKED" | paste -sd' ' -; }

@test "every run is started, measured, kept, removed and judged, then all are summed up" {
  CONCURRENCY=7 run "$CHECKOUT/bin/run" run-ab
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(order '^up --detach --wait [ab]$|runs/[12]-[ab] --start|^rm --force --volumes loom-lab-gen.*' | sed 's/generator-[0-9]*/G/g')" = \
    "up --detach --wait a runs/1-a --start rm --force --volumes loom-lab-G-1 0123456789ab up --detach --wait b runs/2-b --start rm --force --volumes loom-lab-G-2 0123456789ab" ] ||
    { cat "$ASKED"; return 1; }
  [ "$(order '^(judge|summarise) .*')" = "judge /results/e/runs/1-a judge /results/e/runs/2-b summarise /results/e" ]
  [[ $output == *"experiment e: 2 runs (a, b), about 2 min, 5 at most"*"[1/2 a] starting"*"[2/2 b] starting; about 1 min left, 3 at most"*"results: results/e"* ]]
  [ "$(cat "$EXPERIMENT/runs/2-b/raw/container.json")" = '[{}]' ]
  grep -q '"images": {"a": "sha256:0123456789abcdef", "b"' "$EXPERIMENT/engine.json"
  [ "$(readlink "$CHECKOUT/results/latest")" = e ]
  grep -q '^zgc e$' "$BATS_TEST_TMPDIR/settings"
  grep -q 'rm --stop --force prometheus cadvisor backend' "$ASKED"
}

@test "load generators beside the first have no name of its, and leave nothing but their logs" {
  export PAIR=$'GENERATORS=3\nrun 1-a a GC=g1 EXPECTED_S=120 LONGEST_S=300'
  GENERATORS=3 CONCURRENCY=7 run "$CHECKOUT/bin/run" run-ab
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(order '(--use-aliases )?--name loom-lab-gen[^ ]*|loadgen (measure|generate) /results/e/runs/1-a( [0-9])?|^rm --force --volumes loom-lab-gen.*' |
    sed -E 's/generator-[0-9]+-1/G/g')" = "--name loom-lab-G-2 loadgen generate /results/e/runs/1-a 2 \
--name loom-lab-G-3 loadgen generate /results/e/runs/1-a 3 --use-aliases --name loom-lab-G loadgen measure /results/e/runs/1-a \
rm --force --volumes loom-lab-G loom-lab-G-2 loom-lab-G-3 0123456789ab" ] || { cat "$ASKED"; return 1; }
  [ "$(cd "$EXPERIMENT/runs/1-a/raw" && LC_ALL=C && echo loomlab*)" = "loomlab-2.log loomlab-3.log loomlab.log" ]
  [ ! -e "$EXPERIMENT/runs/1-a/generators" ]
}

@test "what the lab does not run is measured, and nothing of the lab is started or stopped" {
  export UP=a PAIR='run 1-127.0.0.1-80 127.0.0.1-80 EXPECTED_S=120 LONGEST_S=300'
  TARGET=http://127.0.0.1/x CONCURRENCY=7 run "$CHECKOUT/bin/run" run-ab
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ -z "$(order '^(up|stop|rm --stop) .*')" ] || { cat "$ASKED"; return 1; }
  [ "$(order 'runs/[^ ]* --start')" = "runs/1-127.0.0.1-80 --start" ]
  run grep -c '"backend"' "$EXPERIMENT/engine.json"
  [ "$output" = 0 ]
}

@test "the runs of a block of a pair have both approaches up, one generator, and each its own files" {
  export PAIR='run 1-a,2-a-twin,3-a,4-a-twin a,a-twin,a,a-twin GC=g1 EXPECTED_S=120 LONGEST_S=300'
  CONCURRENCY=7 run "$CHECKOUT/bin/run" run-ab
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(order '^up --detach --wait a.*')" = "up --detach --wait a a-twin" ] || { cat "$ASKED"; return 1; }
  grep -q 'loadgen measure /results/e/runs/1-a /results/e/runs/2-a-twin /results/e/runs/3-a /results/e/runs/4-a-twin --start' "$ASKED"
  [ "$(order '^(judge|summarise) .*')" = \
    "judge /results/e/runs/1-a judge /results/e/runs/2-a-twin judge /results/e/runs/3-a judge /results/e/runs/4-a-twin summarise /results/e" ]
  [ -e "$EXPERIMENT/runs/4-a-twin/raw/container.json" ]
  [ -e "$EXPERIMENT/runs/4-a-twin/raw/a-twin.log" ]
  [[ $output == *"4 runs (a, a-twin), about 2 min"*"[1/1 a, a-twin] starting"* ]]
  grep -q 'experiment.yaml' "$BATS_TEST_TMPDIR/files"
  [ ! -e "$CHECKOUT/.cache/experiment.yaml" ]
  grep -q 'image inspect.*loom-lab/a:jdk' "$ASKED" && ! grep -q 'image inspect.*loom-lab/a-twin' "$ASKED"
}

@test "what was up is stopped, and started again without the experiment's name" {
  UP=$'tomcat-virtual\nbackend' CONCURRENCY=7 run "$CHECKOUT/bin/run" run-ab
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  grep -q '^stop --timeout 5 tomcat-virtual$' "$ASKED"
  [ "$(tail -n 1 "$BATS_TEST_TMPDIR/settings")" = " " ]
  [ "$(order 'up --detach tomcat.*')" = "up --detach tomcat-virtual backend" ]
  grep -q 'started again after it: tomcat-virtual"' "$EXPERIMENT/engine.json"
}

@test "a run that is invalid for the host's sake is made again" {
  JUDGED=1 CONCURRENCY=7 run "$CHECKOUT/bin/run" run-ab
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  # What is beside the approaches may be what was lost.
  [ "$(order 'runs/[^ ]* --start|^up .*prometheus.*' | sed 's/ prometheus cadvisor backend//g; s/--detach //g; s/ --start//g')" = \
    "up up --wait runs/1-a up --wait runs/2-b runs/1-a-try-2" ] || { cat "$ASKED"; return 1; }
  [[ $output == *"[3/3 a-try-2] starting"* ]]
}

@test "the lab's own failure is the experiment's" {
  MEASURED=4 CONCURRENCY=7 run "$CHECKOUT/bin/run" run-ab
  [ "$status" -eq 4 ]
}

@test "Ctrl-C ends the generator, keeps the run and leaves nothing up" {
  export LASTS=20 CONCURRENCY=7 PAIR=$'GENERATORS=2\nrun 1-a a GC=g1 EXPECTED_S=120 LONGEST_S=300'
  set -m
  env --default-signal=INT "$CHECKOUT/bin/run" run-ab >"$BATS_TEST_TMPDIR/log" 2>&1 3>&- &
  until grep -q 'logs --follow' "$ASKED" 2>/dev/null; do sleep 0.05; done
  kill -INT -- "-$!"
  status=0
  wait $! || status=$?
  set +m
  [ "$status" -eq 130 ]
  grep -q '^kill --signal INT loom-lab-generator-[0-9]*-1 loom-lab-generator-[0-9]*-1-2$' "$ASKED"
  [ "$(order '^judge .*|^summarise .*')" = "judge /results/e/runs/1-a summarise --interrupted /results/e" ] || { cat "$ASKED"; return 1; }
  grep -q 'rm --stop --force prometheus cadvisor backend' "$ASKED"
  [ ! -L "$CHECKOUT/results/latest" ]
}

@test "a generator that does not end by itself is ended in its container, whatever becomes of the shell" {
  CONCURRENCY=7 run "$CHECKOUT/bin/run" run-ab
  [ "$status" -eq 0 ]
  [ "$(order 'entrypoint=timeout.*loadgen measure')" = "entrypoint=timeout --foreground --kill-after=300 900 entrypoint loadgen measure \
entrypoint=timeout --foreground --kill-after=300 750 entrypoint loadgen measure" ] || { cat "$ASKED"; return 1; }
}

@test "where the experiment's folder is removed, nothing more is measured, and it is not made again" {
  GONE=yes CONCURRENCY=7 run "$CHECKOUT/bin/run" run-ab
  [ "$status" -eq 4 ] || { echo "$output"; return 1; }
  [[ $output == *"$EXPERIMENT/order.json is gone"* ]]
  [ "$(order 'runs/[^ ]* --start')" = "runs/1-a --start" ]
  [ ! -e "$EXPERIMENT" ]
  grep -q 'rm --stop --force prometheus cadvisor backend' "$ASKED"
}

@test "what reads results has no network, no rights, a limit of memory and processes, and sees no more of the checkout than it needs" {
  export PAIR=$'RECORDED=1\nrun 1-a a GC=g1 EXPECTED_S=120 LONGEST_S=300' MAVEN_IMAGE=maven
  CONCURRENCY=7 run "$CHECKOUT/bin/run" run-ab
  [ "$status" -eq 0 ]
  local option
  for option in '--network none' --read-only '--tmpfs /tmp' '--cap-drop ALL' '--security-opt no-new-privileges' '--pids-limit 256' \
    '--memory (4294967296|1g)' '--memory-swap (4294967296|1g)'; do
    [ "$(grep -vcE -- " $option " "$BATS_TEST_TMPDIR/loomlab")" = 0 ] || { echo "$option"; cat "$BATS_TEST_TMPDIR/loomlab"; return 1; }
  done
  [ "$(grep -c -e 'chmod .* /jfr$' -e 'jfr .* /jfr/a.jfr$' "$BATS_TEST_TMPDIR/loomlab")" = 2 ]
  sed -i.bak '/jfr$/d' "$BATS_TEST_TMPDIR/loomlab"
  [ "$(grep -oE -- '--volume [^ ]*' "$BATS_TEST_TMPDIR/loomlab" | sed "s#.*$CHECKOUT/##" | LC_ALL=C sort -u | paste -sd' ' -)" = \
    ".env:/lab/.env:ro compose.yaml:/lab/compose.yaml:ro database:/lab/database:ro loadgen/scenarios:/scenarios:ro loadgen:/lab/loadgen:ro results:/results services:/lab/services:ro sizes:/lab/sizes:ro" ]
  run grep -e --cap-add "$BATS_TEST_TMPDIR/loomlab"
  [ "$status" -eq 1 ]
}

@test "settings of the environment that would break the engine's facts are refused before the first run" {
  MAX_CONNECTIONS='1", "x": "' CONCURRENCY=7 run "$CHECKOUT/bin/run" run-ab
  [ "$status" -eq 2 ]
  [[ $output == *'MAX_CONNECTIONS=1", "x": "'* ]]
  [ ! -e "$EXPERIMENT/engine.json" ]
}

@test "an experiment tells whose it is while it lasts, and that of another host stays its" {
  mkdir -p "$CHECKOUT/results/far" && echo "another 1 0" >"$CHECKOUT/results/far/.owner"
  CONCURRENCY=7 run "$CHECKOUT/bin/run" run-ab
  [ "$status" -eq 0 ]
  grep -qxE '[^ ]+ [0-9]+ [^ ]+' "$BATS_TEST_TMPDIR/owner"
  [ ! -e "$EXPERIMENT/.owner" ]
  RESUME=far run "$CHECKOUT/bin/run" finish
  [ "$(order '^resume .*')" = "resume far" ]
  grep -qE -- "--env LAB_OWNER=[^ ]+ [0-9]+ [^ ]+ .* resume far$" "$BATS_TEST_TMPDIR/loomlab"
  [ "$(cat "$CHECKOUT/results/far/.owner")" = "another 1 0" ]
}
