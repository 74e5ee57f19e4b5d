# What tests share that provoke a rule of the verdict in a live lab. Load it after helpers.
# shellcheck shell=bash disable=SC2154

# microhttp-virtual is ready soonest.
RUN="CONCURRENCY=50 DURATION=10s WARMUP_CAP=1s APPROACH=microhttp-virtual"

# provoke COMMAND...: once the run has begun.
provoke() {
  wait_for_line "measure [0-9]" 120
  "$@"
}

# squeeze CPUS COMMAND...: gives the container that the command names a quota of so many CPUs.
squeeze() {
  local cpus=$1
  shift
  docker update --cpus "$cpus" "$("$@")"
}

generator() { docker ps --quiet --filter "label=com.docker.compose.service=loadgen"; }

# reasoned SENTENCES...: the run has ended and its reasons have all of them.
reasoned() {
  local sentence reasons
  end_of_lab
  reasons=$(run_of '.runs[0].reasons | join(" ")')
  for sentence in "$@"; do
    [[ $reasons == *"$sentence"* ]] || { echo "'$sentence' is not in: $reasons" | tee "$BATS_TEST_TMPDIR/why"; cat "$log"; return 1; }
  done
}

# judged VERDICT SENTENCES...: the same, and that is its verdict.
judged() {
  local verdict=$1
  shift
  reasoned "$@"
  [ "$(run_of '.runs[0].verdict')" = "$verdict" ] || { cat "$log"; return 1; }
}

# outcome_of RULE: what it found in the first run.
outcome_of() { run_of ".runs[0].rules[] | select(.rule == \"$1\") | .outcome"; }

# hold SECONDS SERVICE: its processes stand still for so long.
hold() {
  docker pause "$(container_of "$2")"
  sleep "$1"
  docker unpause "$(container_of "$2")"
}

# size_with KEY=VALUE...: a size of that name on the smallest lab.
size_with() {
  cp "$LAB_ROOT/sizes/smoke.env" "$LAB_ROOT/sizes/provoked.env"
  printf '%s\n' "$@" >>"$LAB_ROOT/sizes/provoked.env"
}
