# One lab an engine: whoever has it keeps a volume on the engine, whose label says who that is. lib.sh sources it.
# shellcheck shell=bash

MINE=""
# A checksum, because results/ may be handed on, and whose machine-id that is nobody else should know. Clones of a machine share it,
# and hosts may share results/; of another namespace no process is seen.
HOST_ID=$({ cat /etc/machine-id; readlink /proc/self/ns/pid; hostname; cat /sys/class/net/*/device/net/*/address; } 2>/dev/null |
  cksum | tr ' ' -) || true

# began PROCESS: when, in any zone and language; nothing if there is none, or one that has ended (Z) and waits for its parent.
began() {
  if [ -r /proc/self/stat ]; then
    sed -n 's/.*) \([^ZX]\)/\1/p' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20 |
      sed "s#\$#/$(cat /proc/sys/kernel/random/boot_id)#"
  else
    TZ=UTC LC_ALL=C ps -o state= -o lstart= -p "$1" 2>/dev/null | sed -n 's/^[^Z][^ ]* *//p' | tr -s ' ' '-'
  fi || true
}

token_of() { echo "$HOST_ID $1 $(began "$1")"; } # PROCESS
is_live() { # TOKEN: whether the process that took the lock still runs, or cannot be seen from here
  local host process start
  read -r host process start <<<"$1"
  [[ ! $process =~ ^[0-9]{1,10}$ || $host != "$HOST_ID" || $(began "$process") == "$start" ]]
}

label() { printf '{{.Label "%s"}}' "$1"; } # NAME, of an object that docker lists
locks() { docker volume ls --filter label=loom-lab.lock --format "{{.Name}}|$(label loom-lab.lock)|$(label loom-lab.owner)"; }

take_lock() { # WHAT: refuses where another process has the engine; processes started from here on need no lock of their own
  local token all volume other owner
  [ -z "${LAB_LOCK:-}" ] || ! docker volume inspect "$LAB_LOCK" >/dev/null 2>&1 || return 0
  token=$(token_of $$)
  MINE=loom-lab-lock-$(cksum <<<"$token" | cut -d' ' -f1)
  docker volume create --label loom-lab.lock="$token" --label loom-lab.owner="$LAB_ROOT ($1)" "$MINE" >/dev/null &&
    all=$(locks) || die "$HOST_CANNOT" "the engine could not create the volume $MINE: see above; often its disk is full."
  while IFS='|' read -r volume other owner; do
    [[ $volume =~ ^$WORD$ && $volume != "$MINE" ]] || continue
    if is_live "$other"; then
      release_lock
      die "$HOST_CANNOT" "the engine is in use by $owner, process $(cut -d' ' -f2 <<<"$other"): wait for it, or stop it with" \
        "Ctrl-C; if that process is gone with its host, run docker volume rm $volume."
    fi
    docker volume rm "$volume" >/dev/null 2>&1 || true
  done <<<"$all"
  export LAB_LOCK=$MINE
  clear_engine
}

release_lock() { [ -z "$MINE" ] || docker volume rm "$MINE" >/dev/null 2>&1 || true; MINE=""; }

# Experiments whose process runs, maybe on another host that shares results/; loomlab leaves what has an .owner alone.
others_at_work() {
  local owner folder
  for owner in "$LAB_RESULTS"/*/.owner; do
    folder=${owner%/*}
    [[ ${folder##*/} =~ ^$WORD$ && -f $owner && ! -L $owner && ! -L $folder ]] || continue
    if is_live "$(head -c 300 "$owner" 2>/dev/null)"; then echo "${folder##*/}"; else rm -f "$owner" || true; fi
  done
}

keep_container() { # ID RAW NAME: the log of a service's container, and, but of the load generator's, what became of it
  local inspected
  [[ $3 =~ ^loomlab(-[0-9])?$ ]] || ! inspected=$(inspected "$1" 2>/dev/null) ||
    { rm -f "$2/container.json" && printf '%s\n' "$inspected" >"$2/container.json"; }
  rm -f "$2/$3.log" && log_of "$1" >"$2/$3.log" 2>&1 || true
}

keep_of_killed() { # ID NAME SERVICE EXPERIMENT: the same for runs that are not judged, and through no link
  local raw log=$3 runs="[0-9]+-$3(-try-[0-9]+)?"
  [[ ! $2 =~ ^loom-lab-generator-[0-9]+-[0-9]+(-[0-9])?$ ]] || log=loomlab${BASH_REMATCH[1]:-} runs=$WORD
  [[ ! -L $4 && ! -L $4/runs ]] || return 0
  for raw in "$4"/runs/*/raw; do
    [[ $raw =~ /$runs/raw$ && -f $raw/request.json && ! -e ${raw%raw}run.json && ! -L $raw && ! -L ${raw%/raw} ]] || continue
    [[ -e $raw/$log.log || -L $raw/$log.log || -L $raw/container.json ]] || keep_container "$1" "$raw" "$log"
  done
}

# containers_here [OPTIONS...]: of this engine, those of the lab: ID, state, what labels tell of them, name, service, and results/.
containers_here() {
  docker ps --all --filter label=loom-lab.experiment "$@" --format "{{.ID}}|{{.State}}|$(label loom-lab.experiment)|$(
    label com.docker.compose.project.working_dir)|$(label loom-lab.were-up)|{{.Names}}|$(label com.docker.compose.service)|$(
    label loom-lab.results)"
}

# Removes what killed experiments left, for nobody holds the lock, and what has stopped, once what only the engine knew is kept;
# refuses where another lab is up.
clear_engine() {
  local id state experiment folder were_up name service results known="" cure="run make down there"
  check_lab
  rm -f "$OVERLAY" "$SCRAPED"
  while IFS='|' read -r id state experiment folder were_up name service results; do
    if [ -n "$experiment" ]; then
      [ -n "$known" ] || say "experiment $experiment of $folder was killed: removing the containers it left"
      [ -n "$known" ] || [ -z "$were_up" ] || say "the lab was up before it: run make up in $folder to start it again"
      known=yes
      [[ ! "$experiment $service" =~ ^$WORD\ $WORD$ ]] || keep_of_killed "$id" "$name" "$service" "$results/$experiment" || true
    elif [ -z "$folder" ] || [ "$folder" -ef "$LAB_ROOT" ]; then
      continue
    elif [[ ! $state =~ ^(exited|dead)$ ]]; then
      [ -d "$folder" ] || cure="its folder is gone: run docker rm --force \$(docker ps -aqf label=loom-lab.experiment)"
      release_lock
      die "$HOST_CANNOT" "the lab of $folder is up on this engine: $cure."
    fi
    remove_containers "$id"
  done < <(left_behind | grep -E "^$WORD\|" | sort -t'|' -k3,4r)
}
