# One lab an engine: whoever has it keeps a volume on the engine, whose label says who that is. Source it after lib.sh.
# shellcheck shell=bash

MINE=""

# The machine, and of containers on it the one that the process sees.
host_id() {
  echo "$(cat /etc/machine-id 2>/dev/null || hostname)/$(readlink /proc/self/ns/pid 2>/dev/null)"
}

# began PROCESS: when it began, in whatever zone and language, and after which boot; nothing if there is none, or one that has
# ended (Z) and waits for its parent.
began() {
  if [ -r /proc/self/stat ]; then
    sed -n 's/.*) \([^ZX]\)/\1/p' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20 |
      sed "s#\$#/$(cat /proc/sys/kernel/random/boot_id)#" || true
  else
    TZ=UTC LC_ALL=C ps -o state= -o lstart= -p "$1" 2>/dev/null | sed -n 's/^[^Z][^ ]* *//p' | tr -s ' ' '-' || true
  fi
}

token_of() { echo "$(host_id) $1 $(began "$1")"; } # PROCESS

# held_by_living TOKEN: whether the process that took the lock still runs, or cannot be seen from here.
held_by_living() {
  local host process start
  read -r host process start <<<"$1"
  [[ $process =~ ^[0-9]{1,10}$ ]] || return 0
  [ "$host" != "$(host_id)" ] || [ "$(began "$process")" = "$start" ]
}

locks() {
  docker volume ls --filter label=loom-lab.lock \
    --format '{{.Name}}	{{.Label "loom-lab.lock"}}	{{.Label "loom-lab.owner"}}'
}

# take_lock WHAT: refuses at once where another run of the lab has the engine, or another checkout's lab is up; removes
# what a run left that was killed. Processes started from here on need none of their own.
take_lock() {
  local token all volume other owner
  [ -z "${LAB_LOCK:-}" ] || ! docker volume inspect "$LAB_LOCK" >/dev/null 2>&1 || return 0
  token=$(token_of $$)
  MINE=loom-lab-lock-$(cksum <<<"$token" | cut -d' ' -f1)
  docker volume create --label loom-lab.lock="$token" --label loom-lab.owner="$LAB_ROOT ($1)" "$MINE" >/dev/null &&
    all=$(locks) ||
    die "$HOST_CANNOT" "the engine could not keep the volume $MINE, the lab's lock: its own message is above; often its disk" \
      "is full; see make doctor."
  while IFS=$'\t' read -r volume other owner; do
    [[ $volume =~ ^$NAME$ && $volume != "$MINE" ]] || continue
    if held_by_living "$other"; then
      release_lock
      die "$HOST_CANNOT" "the engine is in use by $owner, process $(cut -d' ' -f2 <<<"$other"): wait for it, or stop it with" \
        "Ctrl-C; if that process is gone with its host, run docker volume rm $volume."
    fi
    docker volume rm "$volume" >/dev/null 2>&1 || true
  done <<<"$all"
  export LAB_LOCK=$MINE
  remove_leftovers
  refuse_other_lab
}

release_lock() {
  [ -z "$MINE" ] || docker volume rm "$MINE" >/dev/null 2>&1 || true
  MINE=""
}

# What an experiment starts has its name on it; nobody holds the lock, so it was killed. Containers of Compose come first.
remove_leftovers() {
  local left experiment folder were_up
  left=$(lab_containers label=loom-lab.experiment '{{.Label "loom-lab.experiment"}}' '{{.Label "loom-lab.were-up"}}' |
    grep -E "^$CONTAINER_ID\|$NAME\|" | sort -t'|' -k3,3r || true)
  [ -n "$left" ] || return 0
  IFS='|' read -r _ experiment folder were_up <<<"$left"
  say "experiment $experiment of $folder was killed: removing the containers it left"
  # shellcheck disable=SC2046  # one word a container
  docker rm --force $(cut -d'|' -f1 <<<"$left") >/dev/null 2>&1 || true
  [ -z "$were_up" ] || say "the lab was up before it: run make up in $folder to start it again"
}

# A lab whose containers have all stopped, as after an engine that was killed, is in nobody's way: they are removed.
refuse_other_lab() {
  local id state folder of=label=com.docker.compose.project=$COMPOSE_PROJECT_NAME stopped=() cure="run make down there"
  while IFS='|' read -r id state folder _; do
    [ -n "$folder" ] && [ ! "$folder" -ef "$LAB_ROOT" ] || continue
    case $state in exited | dead) stopped+=("$id") && continue ;; esac
    [ -d "$folder" ] || cure="its folder is gone, so run docker rm --force \$(docker ps --all --quiet --filter $of)"
    release_lock
    die "$HOST_CANNOT" "the lab of $folder is up on this engine: $cure."
  done < <(lab_containers "$of" '{{.State}}')
  [ ${#stopped[@]} -eq 0 ] || docker rm "${stopped[@]}" >/dev/null 2>&1 || true
}

# lab_containers FILTER FIELD [FIELD]: of each such container its ID, the field, its checkout and the other field.
lab_containers() {
  docker ps --all --filter "$1" --format "{{.ID}}|$2|{{.Label \"com.docker.compose.project.working_dir\"}}|${3:-}"
}
