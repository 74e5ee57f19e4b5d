#!/usr/bin/env bats
# What Prometheus and Grafana tell of a live lab: the headline approaches side by side, then one after another under k6,
# with an error in every hundred answers of the backend.

load ../helpers

WATCH=loom-lab-observability-watch

# observability OPTIONS... -- COMMAND...: in the image of tests/observability, with this file's folder as /data.
observability() {
  local options=()
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  docker run --rm --user "$(id -u):$(id -g)" --volume "$BATS_FILE_TMPDIR:/data" "${options[@]}" loom-lab/observability "${@:2}"
}

# told FILE [OPTION]: the live tests of that file hold.
told() {
  observability --network loom-lab_default --volume "$LAB_ROOT/results:/results:ro" -- \
    pytest "live/$1" ${2:+"$2"} --experiment "/results/$(basename "$(newest)")" \
    --record /data/record --queries /data/queries
}

# queries_of START END: every panel's queries over that time, lines of JSON.
queries_of() {
  local dashboard
  for dashboard in compare one-run lab-health; do
    docker run --rm --network none loom-lab/dashboards \
      python -m loomlab_dashboards queries "$dashboard" --start "$1" --end "$2"
  done
}

setup_file() {
  local start
  make -C "$LAB_ROOT" up >"$BATS_FILE_TMPDIR/log" 2>&1 || { cat "$BATS_FILE_TMPDIR/log" >&3; return 1; }
  observability --detach --name "$WATCH" --pid host --volume /sys/fs/cgroup:/sys/fs/cgroup:ro -- \
    python -m watching record /data/record >/dev/null
  start=$(date +%s)
  # Too many errors make the runs invalid on purpose.
  run make -C "$LAB_ROOT" run-k6 RATE=100 DURATION=20s WARMUP_CAP=1s ERROR_SHARE=0.01 SEED=1
  [ "$status" -eq 2 ] && [[ $output == *"of the requests failed"* ]] || { echo "$output" >&3; return 1; }
  queries_of "$start" "$(date +%s)" >"$BATS_FILE_TMPDIR/queries"
  docker stop "$WATCH" >/dev/null
}

teardown_file() {
  docker rm --force "$WATCH" >/dev/null 2>&1 || true
  make -C "$LAB_ROOT" down >/dev/null 2>&1
}

@test "every recording rule says something plausible of every run, and too many errors fire an alert" {
  told test_rule_figures.py
}

@test "every query of every panel answers with something plausible" {
  told test_panel_figures.py
}

@test "CPU, threads and RSS are the kernel's own figures, requests are the generator's" {
  told test_true_figures.py
}

@test "Prometheus refuses to be administrated" {
  told test_access.py
}

@test "watching costs less than twice its limit while the approaches run" {
  run told test_cost.py -s
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  echo "# $(grep "CPU of the watchers" <<<"$output")" >&3
}

@test "Grafana has the data source and the dashboards, and runs every panel's query" {
  [ -n "$(container_of grafana)" ] || skip "skipped: no Grafana image"
  told test_in_grafana.py
  run docker logs "$(container_of grafana)"
  [[ $output != *"logger=provisioning"*"level=error"* ]]
}
