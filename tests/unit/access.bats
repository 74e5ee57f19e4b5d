#!/usr/bin/env bats
# Who may see and change what, by compose.yaml and Grafana's own settings, without a container.

load ../helpers

# setting FILTER: jq on the whole of compose.yaml, with .env and the environment filled in.
setting() {
  docker compose --file "$LAB_ROOT/compose.yaml" --profile '*' config --format json >"$BATS_TEST_TMPDIR/compose.json"
  json "$1" "$BATS_TEST_TMPDIR/compose.json"
}

# grafana_says SECTION KEY VALUE: grafana.ini does.
grafana_says() {
  local value
  value=$(sed -n "/^\[$1\]$/,/^\[/s/^$2 = //p" "$LAB_ROOT/grafana/grafana.ini")
  [ "$value" = "$3" ] || { echo "[$1] $2 is '$value', not '$3'"; return 1; }
}

@test "Prometheus, Grafana and the results are published, on 127.0.0.1 only" {
  [ "$(setting '[.services | to_entries[] | select(.value.ports) | .key] | sort | join(" ")')" = "grafana prometheus results" ]
  [ "$(setting '[.services[].ports // [] | .[].host_ip] | unique | join(" ")')" = 127.0.0.1 ]
}

@test "results are served read-only" {
  [ "$(setting '.services.results | [.read_only, .volumes[].read_only] | unique | map(tostring) | join(",")')" = true ]
}

@test "Prometheus keeps 15 days or 2 GB, and takes no orders" {
  local command
  command=$(setting '.services.prometheus.command | join(" ")')
  [[ " $command " == *" --storage.tsdb.retention.time=15d "* ]]
  [[ " $command " == *" --storage.tsdb.retention.size=2GB "* ]]
  [[ $command != *web.enable-admin-api* && $command != *web.enable-lifecycle* ]]
}

@test "everyone may look at Grafana, which begins with Compare and tells nobody" {
  grafana_says auth.anonymous enabled true
  grafana_says auth.anonymous org_role Viewer
  grafana_says users allow_sign_up false
  grafana_says snapshots external_enabled false
  grafana_says dashboards default_home_dashboard_path /var/lib/grafana/dashboards/compare.json
  local key
  for key in reporting_enabled check_for_updates check_for_plugin_updates; do grafana_says analytics "$key" false; done
  [ "$(setting '[.services.grafana.volumes[] | select(.target == "/etc/grafana/grafana.ini")] | length')" = 1 ]
}

@test "without a password Grafana has no account and no login" {
  grafana_says auth disable_login_form true
  grafana_says security disable_initial_admin_creation true
  unset GRAFANA_ADMIN_PASSWORD
  [ "$(setting '.services.grafana.environment | map(. == "") | all')" = true ]
}

@test "with a password Grafana has an administrator who can log in" {
  export GRAFANA_ADMIN_PASSWORD=opensesame
  [ "$(setting '.services.grafana.environment | "\(.GF_SECURITY_ADMIN_PASSWORD) \(.GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION) \(.GF_AUTH_DISABLE_LOGIN_FORM)"')" = \
    "opensesame false false" ]
}
