#!/usr/bin/env bats
# What every container of an experiment may do, as the engine and the kernel tell while it runs beside monitoring that is up;
# where the host listens meanwhile; and what a container under test can make Prometheus believe.

load ../helpers
lab=""
# shellcheck source=bin/lib.sh
. "$LAB_ROOT/bin/lib.sh"

# Of a container as `docker inspect` tells of it: its service, and loomlab for one of docker run, which has its image's label, too.
SERVICE='(.Config.Labels // {} | if has("com.docker.compose.oneoff") then .["com.docker.compose.service"] else "loomlab" end)'
# What it may do, and should not.
FAULTS="$SERVICE as \$service "'
  | .HostConfig as $host
  | ({
      prometheus: {networks: ["loom-lab_monitoring", "loom-lab_under_load"], writes: ["/prometheus"], sees: "/etc/prometheus"},
      grafana: {networks: ["loom-lab_monitoring"], writes: ["/var/lib/grafana"], sees: "/etc/grafana/.*|/var/lib/grafana/dashboards"},
      results: {networks: ["loom-lab_monitoring"], sees: "/results"},
      database: {networks: ["loom-lab_under_load"], writes: ["/database"]},
      cadvisor: {networks: ["loom-lab_monitoring"], root: true, sees: ".*", added: ["SYSLOG"], devices: ["/dev/kmsg"]},
      loadgen: {networks: ["loom-lab_monitoring", "loom-lab_under_load"], writes: ["/results"], sees: "/results|/scenarios", root: $as_root},
      loomlab: {networks: ["none"], writes: ["/results"], sees: "/results|/scenarios|/lab/.*", root: $as_root, added: ["DAC_OVERRIDE"]}
    }[$service] // {networks: ["loom-lab_under_load"]}) as $may
  | {
      "is privileged": $host.Privileged,
      "can write its root": ($host.ReadonlyRootfs | not),
      "keeps capabilities": ($host.CapDrop != ["ALL"]),
      "is given capabilities": ([$host.CapAdd // [] | .[] | ltrimstr("CAP_")] - ($may.added // []) != []),
      "may gain privileges": ([$host.SecurityOpt // [] | .[] | startswith("no-new-privileges")] | any | not),
      "is in a namespace of the host": ([$host[("NetworkMode", "PidMode", "IpcMode", "UTSMode")]] | index("host") != null),
      "is in other networks": ((.NetworkSettings.Networks | keys) != $may.networks),
      "may swap": ($host.Memory <= 0 or $host.MemorySwap != $host.Memory),
      "may start any number of threads": (($host.PidsLimit // 0) | . < 1 or . > 40000),
      "runs as root": ((.Config.User | split(":")[0] | IN(null, "", "0", "root")) and ($may.root | not)),
      "may write a folder of the host": ([.Mounts[] | select(.RW).Destination] - ($may.writes // []) != []),
      "sees other files of the host": any(.Mounts[] | select(.Type == "bind"); .Destination | test("^(\($may.sees // ""))$") | not),
      "has a device": ([$host.Devices // [] | .[].PathOnHost] - ($may.devices // []) != []),
      "is published beyond 127.0.0.1": ([$host.PortBindings // {} | .[] // [] | .[].HostIp] - ["127.0.0.1"] != [])
    }
  | to_entries[] | select(.value) | "\($service) \(.key)"'

# faults FILE: of the containers in it, one a line.
faults() { json "$([ "$(lab_user)" = 0:0 ] && echo true || echo false) as \$as_root | $FAULTS" "$1" | sort -u; }

# record: what the engine tells of every container of the lab, even of those that live for a second, until there is `over`.
record() {
  local label id told
  until [ -e "$BATS_FILE_TMPDIR/over" ]; do
    for label in loom-lab.experiment com.docker.compose.project=loom-lab; do
      for id in $(docker ps --quiet --no-trunc --filter "label=$label"); do
        [ ! -e "$BATS_FILE_TMPDIR/seen-$id" ] || continue
        told=$(docker inspect --format '{{json .}}' "$id" 2>/dev/null) || continue
        echo "$told" | tee "$BATS_FILE_TMPDIR/seen-$id" >>"$BATS_FILE_TMPDIR/containers"
      done
    done
    sleep 0.2
  done
}

# listening: the addresses and ports beyond 127.0.0.0/8 and ::1 where this host listens, in hexadecimal.
listening() {
  awk '$4 == "0A" { print $2 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null |
    grep -vE '^((0{16}FFFF0000)?[0-9A-F]{6}7F|0{24}01000000):' | sort -u
}

# processes: SERVICE and what the kernel tells of its first process.
processes() {
  lab_containers | xargs docker inspect --format '{{index .Config.Labels "com.docker.compose.service"}} {{.State.Pid}}' |
    while read -r service pid; do
      sed -nE "s/^(CapEff|NoNewPrivs|Seccomp):[[:space:]]*/$service \1 /p" "/proc/$pid/status" 2>/dev/null || true
    done
}

setup_file() {
  local recorder
  listening >"$BATS_FILE_TMPDIR/listened"
  COMPOSE_PROFILES=none make -C "$LAB_ROOT" up >"$BATS_FILE_TMPDIR/up" 2>&1 || { cat "$BATS_FILE_TMPDIR/up" >&3; return 1; }
  record 3>&- &
  recorder=$!
  start_lab APPROACH=tomcat-virtual ENDPOINT=/orders/42 CONCURRENCY=50 DURATION=10s WARMUP_CAP=1s SIZE=smoke
  wait_for_line "measure [0-9]" 120
  listening >"$BATS_FILE_TMPDIR/listening"
  processes >"$BATS_FILE_TMPDIR/processes"
  wait "$lab" || true # some figures of so short a run are missing
  touch "$BATS_FILE_TMPDIR/over"
  wait "$recorder"
}

teardown() { docker rm --force loom-lab-forger loom-lab-careless >/dev/null 2>&1 || true; }

teardown_file() {
  touch "$BATS_FILE_TMPDIR/over"
  make -C "$LAB_ROOT" down >/dev/null 2>&1
}

@test "no container of an experiment, or of monitoring, may do more than it has to" {
  local service kinds
  kinds=$(json "$SERVICE" "$BATS_FILE_TMPDIR/containers" | sort -u)
  for service in backend cadvisor database database-exporter loadgen loomlab prometheus results tomcat-virtual; do
    grep -qx "$service" <<<"$kinds" || { echo "nothing was seen of $service, only of: $kinds"; return 1; }
  done
  run faults "$BATS_FILE_TMPDIR/containers"
  [ "$status" -eq 0 ] && [ -z "$output" ]
}

@test "a container that may do all is told from the lab's" {
  local fault
  docker run --detach --name loom-lab-careless --privileged --user 0 --pid host --cap-add NET_ADMIN --device /dev/null --publish 9 \
    --volume /var/run:/var/run --entrypoint sleep loom-lab/loadgen 60
  docker inspect --format '{{json .}}' loom-lab-careless >"$BATS_TEST_TMPDIR/told"
  run faults "$BATS_TEST_TMPDIR/told"
  for fault in "is privileged" "can write its root" "keeps capabilities" "is given capabilities" "may gain privileges" \
    "is in a namespace of the host" "is in other networks" "may swap" "may start any number of threads" \
    "may write a folder of the host" "sees other files of the host" "has a device" "is published beyond 127.0.0.1"; do
    grep -qx "loomlab $fault" <<<"$output" || { echo "not told: $fault"; return 1; }
  done
}

@test "their processes have no capability but cAdvisor's, gain no privilege and are filtered by seccomp" {
  [ "$(docker info --format '{{.Name}}')" = "$(uname -n)" ] || skip "the engine's processes are another machine's"
  grep -q '^tomcat-virtual CapEff ' "$BATS_FILE_TMPDIR/processes"
  run grep -vxE '[a-z-]+ (CapEff 0{16}|NoNewPrivs 1|Seccomp 2)|cadvisor CapEff 0{7}40{8}' "$BATS_FILE_TMPDIR/processes"
  [ -z "$output" ]
}

@test "while they run this host listens on no other address than before" {
  run comm -13 "$BATS_FILE_TMPDIR/listened" "$BATS_FILE_TMPDIR/listening"
  [ "$status" -eq 0 ] && [ -z "$output" ]
}

# serves PAGE: a container under test whose metrics are this Python expression.
serves() {
  docker rm --force loom-lab-forger >/dev/null 2>&1 || true
  docker run --detach --name loom-lab-forger --network loom-lab_under_load --network-alias approach --env PAGE="$1" \
    --entrypoint python3 loom-lab/loadgen -c '
import http.server, os
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(eval(os.environ["PAGE"]).encode())
http.server.HTTPServer(("", 8081), Page).serve_forever()' >/dev/null
}

@test "what is under test tells nothing of containers and of the host" {
  serves '"told 1\nhost_memory_working_set_bytes 1\ncontainer_threads{service=\"backend\"} 1\n"'
  settles '.data.result | length' 'told{job="java"}' 1
  settles '.data.result | length' '{job="java",__name__=~"container_.*|host_.*"}' 0
}

@test "a page of 60,000 samples is refused" {
  serves '"".join(f"flood{{number=\"{number}\"}} 1\n" for number in range(60_000))'
  settles '.data.result | length' 'scrape_samples_scraped{job="java"}>50000' 1
  settles '.data.result | length' 'count(flood)' 0
}
