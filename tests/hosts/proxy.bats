#!/usr/bin/env bats
# Images are built behind a proxy, and behind one that looks into TLS and so needs a certificate of its own.

load ../helpers
# shellcheck source=bin/lib.sh
. "$LAB_ROOT/bin/lib.sh"
use_base_images

CLOSED=loom-lab-tests-closed PROXY=loom-lab-tests-proxy

teardown() {
  docker rm --force "$PROXY" >/dev/null 2>&1 || true
  docker network rm "$CLOSED" >/dev/null 2>&1 || true
}

# start_proxy: Debian's tinyproxy, the only way out of a network.
start_proxy() {
  docker build --quiet --tag "loom-lab/tests-proxy" --build-arg PYTHON_IMAGE - <<'END'
ARG PYTHON_IMAGE
FROM $PYTHON_IMAGE
RUN apt-get update && apt-get install --yes --no-install-recommends tinyproxy && printf 'Port 8888\nTimeout 60\n' >/proxy.conf
ENTRYPOINT ["tinyproxy", "-d", "-c", "/proxy.conf"]
END
  docker network create --internal "$CLOSED"
  docker run --detach --name "$PROXY" loom-lab/tests-proxy
  docker network connect "$CLOSED" "$PROXY"
}

# maven OPTIONS...: what Maven needs first of all, with an empty repository, in that network.
maven() {
  docker run --rm --network "$CLOSED" --tmpfs /root/.m2 "$@" loom-lab/tests-maven timeout 120 mvn --batch-mode --quiet validate
}

@test "Maven finds its packages by the proxy of the build" {
  start_proxy
  docker build --quiet --tag loom-lab/tests-maven --target sources --build-arg MAVEN_IMAGE "$LAB_ROOT/services"
  run maven
  [ "$status" -ne 0 ]
  maven --env "HTTPS_PROXY=http://$PROXY:8888/"
}

@test "builds trust the certificates of the additional context" {
  local folder=$BATS_TEST_TMPDIR/certificates line
  mkdir "$folder"
  openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=company -keyout "$BATS_TEST_TMPDIR/key" -out "$folder/company.crt" 2>/dev/null
  line=$(sed -n 2p "$folder/company.crt")
  docker build --quiet --tag loom-lab/tests-maven --target maven --build-context host-ca="$folder" --build-arg MAVEN_IMAGE "$LAB_ROOT/services"
  docker run --rm loom-lab/tests-maven keytool -list -cacerts -storepass changeit -alias company.crt
  docker build --quiet --tag loom-lab/tests-trust --target base --build-context host-ca="$folder" --build-arg PYTHON_IMAGE "$LAB_ROOT/loadgen"
  docker run --rm loom-lab/tests-trust grep -qxF -- "$line" /etc/ssl/certs/ca-certificates.crt
}
