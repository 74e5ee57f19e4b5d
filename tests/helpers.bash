# Shared by the bats files. bats sets status, output and lines.
# shellcheck shell=bash disable=SC2154
LAB_ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
REAL_AWK=$(type -P awk)

# stub NAME BODY: a program of that name, first on the PATH of this test.
stub() {
  mkdir -p "$BATS_TEST_TMPDIR/bin"
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$BATS_TEST_TMPDIR/bin/$1"
  chmod +x "$BATS_TEST_TMPDIR/bin/$1"
  PATH="$BATS_TEST_TMPDIR/bin:$PATH"
}

# A host of our making, without an engine: CPUS MEMORY_MB.
host_of() {
  stub docker 'exit 1'
  stub pgrep 'exit 1'
  stub getconf "echo $1"
  stub awk "case \$* in *MemTotal*) echo $2 ;; *) exec $REAL_AWK \"\$@\" ;; esac"
}

# refused CODE WORDS...: the last `run` ended with CODE and one line that has all the words.
refused() {
  local code=$1 word
  shift
  [ "$status" -eq "$code" ] || { echo "exit $status, not $code: $output"; return 1; }
  [ "${#lines[@]}" -eq 1 ] || { echo "not one line: $output"; return 1; }
  for word in "$@"; do
    [[ $output == *"$word"* ]] || { echo "'$word' is not in: $output"; return 1; }
  done
}

lab_containers() { docker ps --all --quiet --filter label=com.docker.compose.project=loom-lab; }

# json FILTER FILE: jq of the tools image, on a file under results/.
json() { docker run --rm --interactive --network none loom-lab/tools jq --raw-output "$1" <"$2"; }
