#!/usr/bin/env bats
# What the swarm's manager tells of a service that is to start, without an engine.

load ../helpers

# wait_for_app STATE TASKS: of the tasks that are to run, and every task's name, node and fault, the latest of a name first.
wait_for_app() {
  STATE=$1 TASKS=$2 run env LAB=swarm bash -c 'set -euo pipefail && . "$0/bin/lib.sh" && START_CAP_S=1 && wait_for app' "$LAB_ROOT"
}

@test "a service has started when its tasks run, and has not by what the latest task of a name tells" {
  stub docker '[ -n "$STATE" ] && case $* in *desired-state=running*) echo "$STATE" ;; *) echo "$TASKS" ;; esac'
  wait_for_app "Running 2 seconds ago" $'app.1 a \napp.1 a earlier fault'
  [ "$status" -eq 0 ]
  wait_for_app "Starting 2 seconds ago" $'app.1 a \napp.1 a earlier fault'
  refused 1 "could not start app: Starting"
  wait_for_app "Starting 2 seconds ago" $'app.1 a \napp.2 b exit (137)\napp.3 c exit (1)\napp.2 b earlier fault'
  refused 1 "could not start app: b exit (137); "
  wait_for_app "Pending 2 seconds ago" "app.1  no suitable node"
  refused 1 "could not start app: no suitable node; "
  wait_for_app "" ""
  refused 1 "could not start app: no node runs it after 1 s"
}
