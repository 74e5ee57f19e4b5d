# What tests ask of a lab that is up, with the image of tests/observability. Load it after helpers.
# shellcheck shell=bash
# shellcheck source=bin/lib.sh
. "$LAB_ROOT/bin/lib.sh"
# shellcheck source=tests/tools.sh
. "$LAB_ROOT/tests/tools.sh"

# observability OPTIONS... -- COMMAND...: with this file's folder as /data.
observability() { in_observability --user "$(id -u):$(id -g)" --volume "$BATS_FILE_TMPDIR:/data" "$@"; }

# told FILES...: the live tests of those files hold, all of them, of the experiment that this file made.
told() {
  local code=0
  observability --network loom-lab_monitoring --volume "$LAB_RESULTS:/results:ro" -- \
    pytest "$@" --experiment "/results/$(basename "$(experiment_folder)")" \
    --record /data/record --queries /data/queries >"$BATS_TEST_TMPDIR/told" || code=$?
  cat "$BATS_TEST_TMPDIR/told"
  ! grep -qE '[0-9]+ (skipped|xfailed)' "$BATS_TEST_TMPDIR/told" || return
  return $code
}

# queries_of START END: every panel's queries over that time, lines of JSON.
queries_of() {
  # shellcheck disable=SC2016  # the container's shell expands
  in_dashboards sh -c '
    for dashboard in compare one-run lab-health; do python -m loomlab_dashboards queries "$dashboard" --start "$1" --end "$2"; done' \
    sh "$1" "$2"
}
