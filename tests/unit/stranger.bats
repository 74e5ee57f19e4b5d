#!/usr/bin/env bats
# What is not the lab's own: the user's Compose file is left alone, and a folder of results is not written through.

# shellcheck disable=SC2030,SC2031,SC2034,SC2329  # every test is a process; bin/experiment.sh reads and calls what is set here
load ../helpers

setup() {
  CHECKOUT=$BATS_TEST_TMPDIR/lab
  mkdir -p "$CHECKOUT"
  cp -R "$LAB_ROOT/bin" "$LAB_ROOT/airgap" "$LAB_ROOT/.env" "$LAB_ROOT/compose.yaml" "$CHECKOUT/"
  unset COMPOSE_FILE CONTAINER_METRICS
  export LAB_LOCK=held
  echo "services: {} # the user's" >"$BATS_TEST_TMPDIR/own"
}

# A Debian host without a registry that has every stand-in image.
sealed() {
  stub docker 'case $* in "image inspect grafana"*) exit 1 ;; esac'
  stub id 'echo 0'
  stub debootstrap 'exit 1'
  stub apt-get 'exit 1'
  mkdir -p "$BATS_TEST_TMPDIR/host/etc"
  echo ID=debian >"$BATS_TEST_TMPDIR/host/etc/os-release"
  export HOST_ROOT=$BATS_TEST_TMPDIR/host
  "$CHECKOUT/airgap/build" 2>/dev/null
}

files() { # the files of every Compose command of the lab
  (
    # shellcheck source=bin/lib.sh
    . "$CHECKOUT/bin/lib.sh"
    docker() { printf '%s\n' "${COMPOSE_FILE//"$CHECKOUT/"/}"; }
    compose ps
  )
}

@test "where the user has no Compose file, the stand-ins are found by the lab and by Compose itself" {
  sealed
  grep -q loom-lab-airgap/prometheus "$CHECKOUT/compose.stand-ins.yaml"
  [ "$CHECKOUT/docker-compose.override.yaml" -ef "$CHECKOUT/compose.stand-ins.yaml" ]
  [ ! -e "$CHECKOUT/compose.override.yaml" ]
  [ "$(files)" = compose.yaml:compose.stand-ins.yaml ]
  "$CHECKOUT/airgap/build" 2>/dev/null
  "$CHECKOUT/bin/down" --everything
  [ ! -e "$CHECKOUT/compose.stand-ins.yaml" ]
  [ ! -L "$CHECKOUT/docker-compose.override.yaml" ]
  [ "$(files)" = compose.yaml ]
}

@test "the user's Compose files are neither written nor removed, and hold beside the stand-ins" {
  cp "$BATS_TEST_TMPDIR/own" "$CHECKOUT/compose.override.yaml"
  cp "$BATS_TEST_TMPDIR/own" "$CHECKOUT/docker-compose.override.yaml"
  sealed
  [ "$(files)" = compose.yaml:compose.stand-ins.yaml:compose.override.yaml ]
  "$CHECKOUT/bin/down" --everything
  cmp "$CHECKOUT/compose.override.yaml" "$BATS_TEST_TMPDIR/own"
  cmp "$CHECKOUT/docker-compose.override.yaml" "$BATS_TEST_TMPDIR/own"
  [ "$(files)" = compose.yaml:compose.override.yaml ]
}

# An experiment in $EXPERIMENT whose folder a stranger made, and whose services do nothing.
resuming() {
  # shellcheck source=bin/lib.sh
  . "$CHECKOUT/bin/lib.sh"
  # shellcheck source=bin/experiment.sh
  . "$CHECKOUT/bin/experiment.sh"
  stub docker 'case $* in info*) echo "\"engine\": \"28\"" ;; esac'
  EXPERIMENT=$CHECKOUT/results/gift RUNS="" EXPECTED_S=0 LONGEST_S=0 BACKEND_WARMUP_S=0 MAX_CONNECTIONS=1 BACKLOG=2 JDK=25 NOTE=""
  LAB_EXPERIMENT=gift
  mkdir -p "$EXPERIMENT/runs"
}

@test "what the shell writes beside the runs replaces another's file and does not write into it" {
  resuming
  echo "its own" >"$BATS_TEST_TMPDIR/victim"
  ln -s "$BATS_TEST_TMPDIR/none" "$EXPERIMENT/engine.json"
  ln -s "$BATS_TEST_TMPDIR/victim" "$EXPERIMENT/engine.json.partial"
  stub sync '[ -L "${1%.partial}" ] && grep -q "\"images\".*}}$" "$1" && echo "$1" >'"$BATS_TEST_TMPDIR/synced"
  ln -s "$BATS_TEST_TMPDIR/victim" "$EXPERIMENT/.again"
  begin_experiment 2>/dev/null
  wait "$BACKGROUND"
  [ "$(cat "$BATS_TEST_TMPDIR/victim")" = "its own" ]
  [ ! -e "$BATS_TEST_TMPDIR/none" ]
  grep -qx "$EXPERIMENT/engine.json.partial" "$BATS_TEST_TMPDIR/synced" # before it takes the link's place
  grep -q '^{"engine": "28",' "$EXPERIMENT/engine.json"
  grep -q '"inherited": {"MAX_CONNECTIONS": "1", "BACKLOG": "2"}' "$EXPERIMENT/engine.json"
  grep -q '"images": {"backend": "", "loadgen": ""}}' "$EXPERIMENT/engine.json"
  [ ! -L "$EXPERIMENT/.again" ]
}

@test "an experiment is not begun where the engine tells nothing of itself" {
  resuming
  stub docker 'case $* in info*) exit 1 ;; esac'
  run begin_experiment
  [ "$status" -eq 4 ]
  [ ! -e "$EXPERIMENT/engine.json" ]
}

@test "where facts of the engine cannot be written, no half of them is left" {
  resuming
  [ -e /dev/full ] || skip "needs /dev/full"
  # shellcheck disable=SC2059  # of the facts
  printf() { if [[ $1 == "{"* ]]; then builtin printf "$@" >/dev/full; else builtin printf "$@"; fi; }
  echo 1 >"$EXPERIMENT/engine.json"
  run begin_experiment
  [ "$status" -eq 4 ]
  [ "$(cd "$EXPERIMENT" && echo *)" = "engine.json runs" ]
}

@test "what is kept of a container takes the place of a link" {
  resuming
  mkdir "$EXPERIMENT/raw"
  echo "its own" >"$BATS_TEST_TMPDIR/victim"
  ln -s "$BATS_TEST_TMPDIR/victim" "$EXPERIMENT/raw/a.log"
  ln -s "$BATS_TEST_TMPDIR/victim" "$EXPERIMENT/raw/container.json"
  keep_container 0123456789ab "$EXPERIMENT/raw" a
  [ "$(cat "$BATS_TEST_TMPDIR/victim")" = "its own" ]
  [ ! -L "$EXPERIMENT/raw/a.log" ] && [ ! -L "$EXPERIMENT/raw/container.json" ]
}

@test "what a folder of results would have the shell do is not done, however it says it" {
  local line ran=$BATS_TEST_TMPDIR/ran
  stubbed_lab
  stub docker "echo \"\$*\" >>$CHECKOUT/asked; case \"\$*\" in *' loom-lab/loadgen resume '*)
    printf '%s\n' LAB_EXPERIMENT=gift EXPECTED_S=1 LONGEST_S=1 BACKEND_WARMUP_S=0 NOTE= APPROACHES=a \"\$LINE\" 'run 1-a a GC=g1' ;;
    esac"
  mkdir -p "$CHECKOUT/results/gift/runs"
  echo "touch $ran" | tee "$CHECKOUT/results/gift/rc" "$CHECKOUT/results/gift/.again" "$CHECKOUT/results/gift/docker" >"$CHECKOUT/results/gift/engine.json"
  chmod +x "$CHECKOUT/results/gift/docker"
  for line in "BASH_ENV=$CHECKOUT/results/gift/rc" "ENV=$CHECKOUT/results/gift/rc" "PATH=$CHECKOUT/results/gift:$PATH" "GC=g1;touch $ran" \
    "GC=\$(touch $ran)" "PROMPT_COMMAND=touch $ran" "run 1-a a[\$(touch $ran)] GC=g1" $'NOTE=a\nBASH_ENV=rc' "EXPECTED_S=a[\$(touch $ran)]"; do
    LINE=$line RESUME=gift run "$CHECKOUT/bin/run" finish
    [ "$status" -eq 4 ] && [ ! -e "$ran" ] || { echo "$line: exit $status: $output"; return 1; }
    ! grep -E ' (up|run|rm) ' "$CHECKOUT/asked" | grep -qv 'loom-lab/loadgen ' || { echo "$line"; cat "$CHECKOUT/asked"; return 1; }
  done
}

# What is left of the experiment's folder where its verb failed before its first run.
left() {
  summarise() { :; }
  restore() { :; }
  release_lock() { :; }
  wind_up 3
  (cd "$CHECKOUT/results" && find . -mindepth 1 | sort | paste -sd' ' -)
}

@test "an experiment without a run is removed, and one whose runs cannot be listed is kept" {
  resuming
  touch "$EXPERIMENT/order.json"
  [ -z "$(left)" ]
  mkdir -p "$EXPERIMENT/runs/1-a"
  touch "$EXPERIMENT/order.json"
  [ "$(left)" = "./gift ./gift/order.json ./gift/runs ./gift/runs/1-a" ]
  mv "$EXPERIMENT/runs" "$EXPERIMENT/elsewhere"
  [ "$(left)" = "./gift ./gift/elsewhere ./gift/elsewhere/1-a ./gift/order.json" ]
}

@test "make down keeps images and recorded metrics, and make clean does not" {
  stub docker "echo \"\$*\" >>$BATS_TEST_TMPDIR/asked; case \$* in
    *dangling=true*) echo replaced ;;
    'image ls'*) echo an-image ;;
    esac"
  "$CHECKOUT/bin/down"
  grep -q ' down --remove-orphans$' "$BATS_TEST_TMPDIR/asked"
  run grep -E 'volume.* rm| down .*--volumes|^image' "$BATS_TEST_TMPDIR/asked"
  [ "$status" -eq 1 ]
  "$CHECKOUT/bin/down" --everything
  grep -q ' down .*--volumes' "$BATS_TEST_TMPDIR/asked"
  grep -qx 'image rm --force an-image replaced' "$BATS_TEST_TMPDIR/asked"
}
