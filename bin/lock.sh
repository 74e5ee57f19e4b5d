# One lab an engine: a volume of the engine's is the lock. Source it after lib.sh.
# shellcheck shell=bash

LOCK=loom-lab-lock LOCK_HELD=""

boot_id() { cat /proc/sys/kernel/random/boot_id 2>/dev/null || sysctl -n kern.bootsessionuuid 2>/dev/null || hostname; }

# began PROCESS: when it began; nothing if there is none.
began() { ps -o lstart= -p "$1" 2>/dev/null | tr -s ' ' '-' || true; }

lock_label() { docker volume inspect --format "{{index .Labels \"loom-lab.$1\"}}" "$LOCK" 2>/dev/null || true; }

token_of() { echo "$(boot_id)/$1/$(began "$1")"; }

# held_by_living TOKEN: whether the process that took the lock still runs, or cannot be seen from here.
held_by_living() {
  local process
  [ "${1%%/*}" = "$(boot_id)" ] || return 0
  process=${1#*/} process=${process%%/*}
  [ "$(token_of "$process")" = "$1" ]
}

# take_lock WHAT: refuses at once where another run of the lab has the engine, or another checkout's lab is up; removes
# what a run left that was killed. Processes started from here on need none of their own.
take_lock() {
  local token holder
  [ -z "${LAB_LOCK:-}" ] || [ "$(lock_label token)" != "$LAB_LOCK" ] || return 0
  token=$(token_of $$)
  while [ "$(lock_label token)" != "$token" ]; do
    docker volume create --label loom-lab.token="$token" --label loom-lab.owner="$LAB_ROOT ($1)" "$LOCK" >/dev/null
    holder=$(lock_label token)
    [ "$holder" != "$token" ] || break
    if held_by_living "$holder"; then
      die "$HOST_CANNOT" "the engine is in use by $(lock_label owner), process $(cut -d/ -f2 <<<"$holder"): wait for it, or stop it with Ctrl-C; if it runs on a host that is gone, docker volume rm $LOCK."
    fi
    docker volume rm "$LOCK" >/dev/null 2>&1 || true
  done
  LOCK_HELD=yes
  export LAB_LOCK=$token
  remove_leftovers
  refuse_other_lab
}

release_lock() {
  [ -z "$LOCK_HELD" ] || docker volume rm "$LOCK" >/dev/null 2>&1 || true
  LOCK_HELD=""
}

lab_containers() { # FILTER FORMAT
  docker ps --all --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" --filter "$1" --format "$2"
}

# What an experiment starts has its name on it; nobody holds the lock, so it was killed.
remove_leftovers() {
  local left experiment folder were_up
  left=$(lab_containers label=loom-lab.experiment '{{.ID}}|{{.Label "loom-lab.experiment"}}|{{.Label "com.docker.compose.project.working_dir"}}|{{.Label "loom-lab.were-up"}}' | grep -v '^[^|]*||' || true)
  [ -n "$left" ] || return 0
  IFS='|' read -r _ experiment folder were_up <<<"$left"
  say "experiment $experiment of $folder was killed: removing the containers it left"
  # shellcheck disable=SC2046  # one word a container
  docker rm --force $(cut -d'|' -f1 <<<"$left") >/dev/null
  [ -z "$were_up" ] || say "the lab was up before it: run make up in $folder to have it again"
}

refuse_other_lab() {
  local other
  other=$(lab_containers label=com.docker.compose.project.working_dir '{{.Label "com.docker.compose.project.working_dir"}}' | grep -vxF "$LAB_ROOT" | head -n 1 || true)
  [ -z "$other" ] || {
    release_lock
    die "$HOST_CANNOT" "the lab of $other is up on this engine: run make down there."
  }
}
