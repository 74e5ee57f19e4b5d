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

# failed RULES...: the run has ended, and failed all these rules of the verdict.
failed() {
  end_of_lab
  fails 1 "$@" >"$BATS_TEST_TMPDIR/why" || { cat "$BATS_TEST_TMPDIR/why"; run_of '.runs[0].reasons'; cat "$log"; return 1; }
  rm "$BATS_TEST_TMPDIR/why"
}

# judged VERDICT RULES...: the same, and that is its verdict.
judged() {
  local verdict=$1
  shift
  failed "$@"
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

# valid_on_the_exporter: what `run` ran has made an experiment on the lab's exporter, whose first run has every figure and is
# valid, unless others took CPU time of it, because whatever else is said of it may follow from that. Prints the verdict.
valid_on_the_exporter() {
  local rule verdict
  log=$BATS_TEST_TMPDIR/log
  echo "$output" >"$log"
  verdict=$(run_of '.runs[0] | [.verdict] + .reasons | join(" ")')
  echo "# on the exporter: $verdict" >&3
  [ "$(run_of .environment.container_metrics)" = engine ] || { run_of .environment; return 1; }
  [ "$(run_of '.runs[0] | [.cpu_seconds, .cpu_ms_per_request, .rss_max_bytes, .threads_max, .foreign_cpu_share] | map(. != null) | all')" = true ] ||
    { run_of '.runs[0]'; return 1; }
  for rule in metrics_missing monitoring_gone process_restarted; do
    [ "$(outcome_of "$rule")" = passed ] || { run_of '.runs[0].rules'; return 1; }
  done
  [ "$verdict" = valid ] ||
    [ "$(run_of '.runs[0].rules | map(select(.outcome == "failed").rule) | any(test("stolen$|foreign_cpu$"))')" = true ] ||
    { run_of '.runs[0].reasons'; return 1; }
}
