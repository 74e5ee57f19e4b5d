# One lab an engine: whoever has it keeps a volume on the engine, which says who that is. Source it after lib.sh.
# shellcheck shell=bash

LOCK=loom-lab-lock MINE=""

host_id() { cat /etc/machine-id 2>/dev/null || hostname; }
boot_id() { cat /proc/sys/kernel/random/boot_id 2>/dev/null || sysctl -n kern.bootsessionuuid 2>/dev/null || echo unknown; }
process_space() { readlink /proc/self/ns/pid 2>/dev/null || echo all; }

# began PROCESS: when it began, in whatever zone and language; nothing if there is none, or one that has ended (Z) and waits
# for its parent.
began() {
  if [ -r /proc/self/stat ]; then
    sed -n 's/.*) \([^ZX]\)/\1/p' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20 || true
  else
    TZ=UTC LC_ALL=C ps -o state= -o lstart= -p "$1" 2>/dev/null | sed -n 's/^[^Z][^ ]* *//p' | tr -s ' ' '-' || true
  fi
}

token_of() { echo "$(host_id) $(boot_id) $(process_space) $1 $(began "$1")"; }

# held_by_living TOKEN: whether the process that took the lock still runs, or cannot be seen from here.
held_by_living() {
  local host boot space process start
  read -r host boot space process start <<<"$1"
  [ "$host" = "$(host_id)" ] || return 0
  [ "$boot" = "$(boot_id)" ] || return 1
  [ "$space" = "$(process_space)" ] || return 0
  [ "$(began "$process")" = "$start" ]
}

locks() { docker volume ls --filter label=loom-lab.lock --format '{{.Name}}	{{.Label "loom-lab.lock"}}	{{.Label "loom-lab.owner"}}'; }

# take_lock WHAT: refuses at once where another run of the lab has the engine, or another checkout's lab is up; removes
# what a run left that was killed. Processes started from here on need none of their own.
take_lock() {
  local token all name other owner
  [ -z "${LAB_LOCK:-}" ] || ! docker volume inspect "$LAB_LOCK" >/dev/null 2>&1 || return 0
  token=$(token_of $$)
  MINE=$LOCK-$(cksum <<<"$token" | cut -d' ' -f1)
  docker volume create --label loom-lab.lock="$token" --label loom-lab.owner="$LAB_ROOT ($1)" "$MINE" >/dev/null ||
    die "$HOST_CANNOT" "the engine could not create the volume $MINE, the lab's lock: its own message is above; often its disk is full."
  all=$(locks) || die "$HOST_CANNOT" "the engine did not list its volumes: its own message is above; see make doctor."
  while IFS=$'\t' read -r name other owner; do
    [ "$name" != "$MINE" ] || continue
    if held_by_living "$other"; then
      release_lock
      die "$HOST_CANNOT" "the engine is in use by $owner, process $(cut -d' ' -f4 <<<"$other"): wait for it, or stop it with Ctrl-C; if that process is gone with its host, run docker volume rm $name."
    fi
    docker volume rm "$name" >/dev/null 2>&1 || true
  done <<<"$all"
  export LAB_LOCK=$MINE
  remove_leftovers
  refuse_other_lab
}

release_lock() {
  [ -z "$MINE" ] || docker volume rm "$MINE" >/dev/null 2>&1 || true
  MINE=""
}

# What an experiment starts has its name on it; nobody holds the lock, so it was killed.
remove_leftovers() {
  local left experiment folder were_up
  left=$(docker ps --all --filter label=loom-lab.experiment --format '{{.ID}}|{{.Label "loom-lab.experiment"}}|{{.Label "com.docker.compose.project.working_dir"}}|{{.Label "loom-lab.were-up"}}' | grep -v '^[^|]*||' | sort -t'|' -k3,3r || true)
  [ -n "$left" ] || return 0
  IFS='|' read -r _ experiment folder were_up <<<"$left"
  say "experiment $experiment of $folder was killed: removing the containers it left"
  # shellcheck disable=SC2046  # one word a container
  docker rm --force $(cut -d'|' -f1 <<<"$left") >/dev/null 2>&1 || true
  [ -z "$were_up" ] || say "the lab was up before it: run make up in $folder to start it again"
}

# A lab whose containers have all stopped, as after an engine that was killed, is in nobody's way: they are removed.
refuse_other_lab() {
  local other state id cure stopped=()
  while IFS='|' read -r other state id; do
    [ -n "$other" ] && [ ! "$other" -ef "$LAB_ROOT" ] || continue
    if [ "$state" = exited ] || [ "$state" = dead ]; then
      stopped+=("$id")
      continue
    fi
    cure="run make down there"
    [ -d "$other" ] || cure="that folder is gone, so remove its containers with docker rm --force \$(docker ps --all --quiet --filter label=com.docker.compose.project=$COMPOSE_PROJECT_NAME)"
    release_lock
    die "$HOST_CANNOT" "the lab of $other is up on this engine: $cure."
  done < <(docker ps --all --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" --format '{{.Label "com.docker.compose.project.working_dir"}}|{{.State}}|{{.ID}}')
  [ ${#stopped[@]} -eq 0 ] || docker rm "${stopped[@]}" >/dev/null 2>&1 || true
}
