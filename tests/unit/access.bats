#!/usr/bin/env bats
# Who may see and change what, by compose.yaml and Grafana's own settings, without a container.

load ../helpers

# config [OPTIONS]: the whole of compose.yaml, with .env and the environment filled in.
config() { docker compose --file "$LAB_ROOT/compose.yaml" "$@" --profile '*' config --format json; }

setup_file() {
  unset GRAFANA_ADMIN_PASSWORD
  config >"$BATS_FILE_TMPDIR/without"
  GRAFANA_ADMIN_PASSWORD=opensesame config >"$BATS_FILE_TMPDIR/with"
  config --file "$LAB_ROOT/compose.engine.yaml" >"$BATS_FILE_TMPDIR/exporter"
}

# setting FILTER [with | exporter]: jq on the configuration, without or with a password for Grafana, or with the lab's own exporter.
setting() { json "$1" "$BATS_FILE_TMPDIR/${2:-without}"; }

# grafana_says SECTION KEY VALUE: grafana.ini does.
grafana_says() {
  local value
  value=$(sed -n "/^\[$1\]$/,/^\[/s/^$2 = //p" "$LAB_ROOT/grafana/grafana.ini")
  [ "$value" = "$3" ] || { echo "[$1] $2 is '$value', not '$3'"; return 1; }
}

@test "Prometheus, Grafana, the results and approaches are published, on 127.0.0.1 only" {
  [ "$(setting '[.services | to_entries[] | select(.value.ports | not) | .key] | sort | join(" ")')" = "backend cadvisor database database-exporter loadgen" ]
  [ "$(setting '[.services[].ports // [] | .[].host_ip] | unique | join(" ")')" = 127.0.0.1 ]
}

@test "of all services only cAdvisor sees the engine's socket, read-only" {
  local sockets='select(.source | test("docker.sock|^/(var/)?run(/|$)|^/$"))'
  [ "$(setting "[.services | to_entries[] | select([.value.volumes // [] | .[] | $sockets] != []) | .key] | join(\" \")")" = cadvisor ]
  [ "$(setting "[.services.cadvisor.volumes[].read_only] | unique | tojson")" = "[true]" ]
}

@test "of the host, the exporter in cAdvisor's place sees the engine's socket alone, read-only" {
  [ "$(setting '.services.cadvisor.volumes | map("\(.target) \(.read_only)") | join(" ")' exporter)" = "/var/run/docker.sock true" ]
  [ "$(setting '.services.cadvisor | .read_only, .cap_drop == ["ALL"], .cap_add, .devices' exporter | paste -sd' ' -)" = "true true null null" ]
}

@test "every part has a limit of processes, and of memory with swap" {
  [ "$(setting '[.services[] | (.memswap_limit // "none") == .deploy.resources.limits.memory, .deploy.resources.limits.pids > 0] | all')" = true ]
}

@test "no proxy of the user's stands between the lab's parts" {
  [ "$(setting '[.services | .grafana, .loadgen | .environment | .NO_PROXY, .no_proxy] | unique | join(" ")')" = "*" ]
}

@test "results and Grafana come back after a failure; what is measured or measures does not" {
  [ "$(setting '[.services | to_entries[] | select(.value.restart != "no") | .key] | sort | join(" ")')" = "grafana results" ]
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
  [ "$(setting '.services.grafana.environment | del(.NO_PROXY, .no_proxy) | map(. == "") | all')" = true ]
}

@test "with a password Grafana has an administrator who can log in" {
  [ "$(setting '.services.grafana.environment | "\(.GF_SECURITY_ADMIN_PASSWORD) \(.GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION) \(.GF_AUTH_DISABLE_LOGIN_FORM)"' with)" = \
    "opensesame false false" ]
}

@test "Grafana finds the dashboards where they are mounted, and its data source where Prometheus listens" {
  local provisioning=$LAB_ROOT/grafana/provisioning path
  path=$(sed -n 's/^ *path: //p' "$provisioning/dashboards/loomlab.yaml")
  [[ $(setting ".services.grafana.volumes[] | select(.target == \"$path\").source") == */grafana/dashboards ]]
  [[ $(setting '.services.grafana.volumes[] | select(.target == "/etc/grafana/provisioning").source') == */grafana/provisioning ]]
  grep -qx ' *url: http://prometheus:9090' "$provisioning/datasources/prometheus.yaml"
  [ "$(setting '.services.prometheus.ports[].target')" = 9090 ]
}
