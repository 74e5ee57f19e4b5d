#!/usr/bin/env bats
# Container metrics by either way: from cAdvisor, and from the lab's own exporter where cAdvisor sees none.

load ../helpers
load ../provoke
# shellcheck source=bin/lib.sh
. "$LAB_ROOT/bin/lib.sh"

EXPORTER=loom-lab-exporter BURNER=loom-lab-burner

# Both pages' figures of the burner over 15 s, each by its own time stamps, side by side; exit 1 where they are apart.
COMPARE='
import re, sys, time, urllib.request
PAGES = ["http://cadvisor:8080/metrics?max_age=0s", "http://'$EXPORTER':8080/metrics"]
SAMPLE = re.compile(r"^(container_\w+)\{([^}]*_service=\"burner\"[^}]*)\} (\S+)(?: (\d+))?$", re.M)
def look(url):
    page = urllib.request.urlopen(url, timeout=5).read().decode()
    return {name: (labels, float(value), int(stamp or 0) / 1000) for name, labels, value, stamp in SAMPLE.findall(page)}
first = [look(url) for url in PAGES]
time.sleep(15)
last = [look(url) for url in PAGES]
apart = []
for name in last[1]:
    if name.endswith("_total"):
        told = [(b[name][1] - a[name][1]) / (b[name][2] - a[name][2]) for a, b in zip(first, last)]
    else:
        told = [b[name][1] for b in last]
    ids = [re.search(r"\bid=\"([^\"]*)\"", b[name][0])[1] for b in last]
    names = [sorted(re.findall(r"(\w+)=\"", b[name][0])) for b in last]
    fine = abs(told[0] - told[1]) <= 0.03 * abs(told[0]) and ids[0] == ids[1] and names[0] == names[1]
    print(name, *told, "" if fine else "APART", file=sys.stderr)
    apart += [] if fine else [name]
sys.exit(1 if apart or len(last[1]) < 9 else 0)
'

teardown() {
  docker rm --force "$EXPORTER" "$BURNER" >/dev/null 2>&1 || true
  "$LAB_ROOT/bin/down" >/dev/null 2>&1
}

# without_mounts COMMAND...: with a cAdvisor that has nothing of the host.
without_mounts() {
  local files=$LAB_ROOT/compose.yaml
  ! on_stand_ins || files=$files:$STAND_INS
  printf 'services:\n  cadvisor:\n    volumes: !override\n      - %s:/nothing:ro\n' "$LAB_ROOT/prometheus" >"$BATS_TEST_TMPDIR/broken.yaml"
  COMPOSE_FILE=$files:$BATS_TEST_TMPDIR/broken.yaml "$@"
}

@test "with cAdvisor's mounts taken away doctor fails with the cure, or takes the exporter and says so" {
  CONTAINER_METRICS=cadvisor run without_mounts "$LAB_ROOT/bin/doctor"
  [ "$status" -eq 3 ] || { echo "$output"; return 1; }
  grep -E '^will not work  container metrics .*do not arrive from cadvisor.*docs/how-to/hosts.md' <<<"$output"
  run without_mounts "$LAB_ROOT/bin/doctor"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  grep -E '^caveat +container metrics not from cAdvisor.*exporter' <<<"$output"
}

@test "both ways tell the same of a container: CPU within 3 %, memory, threads, quota, throttling, names and labels" {
  CONTAINER_METRICS=cadvisor "$LAB_ROOT/bin/metrics"
  (cd "$LAB_ROOT" && CONTAINER_METRICS=cadvisor compose up --detach --no-deps cadvisor) >/dev/null 2>&1
  docker run --detach --name "$EXPORTER" --network loom-lab_monitoring --user 0:0 --cap-drop ALL --volume /var/run/docker.sock:/var/run/docker.sock:ro --entrypoint loomlab loom-lab/loadgen export-containers >/dev/null
  docker run --detach --init --name "$BURNER" --network none --cpus 0.4 --entrypoint python3 \
    --label com.docker.compose.project=loom-lab --label com.docker.compose.service=burner loom-lab/loadgen -c 'held = bytearray(64 << 20)
while True: pass' >/dev/null
  sleep 5
  docker run --rm --network loom-lab_monitoring --entrypoint python3 loom-lab/loadgen -c "$COMPARE"
}

@test "a default run on the exporter has every figure, is valid, and names it" {
  CONTAINER_METRICS=engine CONCURRENCY=200 APPROACH=microhttp-virtual run "$LAB_ROOT/bin/run" run-ab
  valid_on_the_exporter
}
