#!/usr/bin/env bash
# Which verbs take which variables. Run by make as `variables.sh VERBS NAMES...`, it refuses names that none of the verbs takes.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# docs/tools/draw wrote it: name, example, verbs (! after those that need it), and `plan` where a plan sets it.
VARIABLES=$LAB_ROOT/bin/variables.tsv
# What a user's shell may export for purposes of its own is not handed to verbs that do not take it.
COMMON=" LAB NAME KEEP SCALE TOOL DESIGN JDK JFR CPU_MODE BESIDE SIZE BENCHMARK SHORT PART TRIES VARIABLE A B C FAIL SLO SLOW SMALL LIMIT POOL SUBJECTS TARGET CA_FILE SERVICE IMAGE PORT READY METRICS REQUESTS_FILE "

variable_names() { cut -f 1 "$VARIABLES"; }
check_variables() { # VERB: refuses one that lacks what it needs, and what the environment has and the verb does not take
  local name example verbs
  while IFS=$'\t' read -r name example verbs _; do
    [[ " $verbs " != *" $1! "* || -n ${!name:-} ]] ||
      die "$BAD_REQUEST" "$name is not set: use for instance make $1 $name=$example."
    [[ " ${verbs//!/} " != *" $1 "* ]] || continue
    [[ $COMMON != *" $name "* ]] || unset "$name"
    [ -z "${!name:-}" ] || die "$BAD_REQUEST" "$name=${!name} does not go with make $1: leave it out."
  done <"$VARIABLES"
}

check_names() { # VERBS NAMES...
  local name verb verbs
  for name in "${@:2}"; do
    verbs=$(awk -F '\t' -v name="$name" '$1 == name { gsub("!", "", $3); print $3 }' "$VARIABLES")
    [ -n "$verbs" ] ||
      die "$BAD_REQUEST" "$name is no variable of the lab: the nearest is $(nearest "$name"); see docs/reference/variables.md."
    for verb in $1; do [[ " $verbs any " != *" $verb "* ]] || continue 2; done
    die "$BAD_REQUEST" "$name does not go with make $1: leave it out; it goes with $verbs."
  done
}

nearest() { # NAME: by the share of pairs of letters that both names have
  variable_names | awk -v wanted="$1" '
    function shared(a, b, i, n) { for (i = 1; i < length(a); i++) n += index(b, substr(a, i, 2)) > 0; return n }
    { print int(1000 * shared(wanted, $0) / (length(wanted) + length($0))), $0 }' | sort -rn | sed -n '1s/.* //p'
}

# ask_loomlab COMMAND ARGUMENTS...: with what the user exports. Before .env's defaults are loaded, which would pass for that.
# shellcheck disable=SC2046  # names of variables
ask_loomlab() {
  loomlab ${MODEL:+--interactive} $(variable_names | sed 's/^/--env /') ${OF_USER[@]+"${OF_USER[@]}"} -- "$@" <<<"${MODEL:-}"
}

# read_users_files: leaves what Compose makes of SUBJECTS in MODEL, in SECRET_VARIABLES what headers and sides have as ${NAME}, and in
# OF_USER the options of containers that need these, the folder of REQUESTS_FILE, and CA_FILE.
OF_USER=() SECRET_VARIABLES="" MODEL=""
export -n MODEL
read_users_files() {
  local name value folder
  [ -z "${SUBJECTS:-}" ] || MODEL=$(user_model) || exit
  for name in REQUESTS_FILE CA_FILE; do
    [ -n "${!name:-}" ] || continue
    folder=$(cd "$(dirname "${!name}")" 2>/dev/null && pwd -P) && [ -f "${!name}" ] && [[ $folder != *:* ]] ||
      die "$BAD_REQUEST" "$name=${!name} is no file, or in a folder with a colon in its name: name another one."
    [ "$name" = CA_FILE ] || OF_USER=(--volume "$folder:/requests:ro")
    [ "$name" != CA_FILE ] || OF_USER+=(--volume "$folder/${CA_FILE##*/}:/ca.pem:ro" --env SSL_CERT_FILE=/ca.pem)
  done
  SECRET_VARIABLES=$({ echo "${A:-}${B:-}${C:-}" && cat "${REQUESTS_FILE:-/dev/null}"; } |
    grep -oE '\$\{[A-Za-z_][A-Za-z0-9_]*\}' | tr -d '${}' | sort -u || true)
  for name in $SECRET_VARIABLES; do
    value=$(printenv "$name" || true)
    [[ -n $value && $value =~ ^[[:print:]]+$ ]] ||
      die "$BAD_REQUEST" "\${$name} is not set, or no printable line: export $name=..., or take it out."
    OF_USER+=(--env "$name")
  done
}

# user_model: what Compose makes of the user's file, in the user's folder, with its override where Compose would take one.
user_model() {
  local file=${SUBJECTS/#\~\//$HOME/} files override
  [ -f "$file" ] || die "$BAD_REQUEST" "SUBJECTS=$SUBJECTS is no file: name your Compose file."
  files=(--file "${file##*/}") override=${file%.*}.override.${file##*.}
  [[ ! ${file##*/} =~ ^(docker-)?compose\.ya?ml$ || ! -f $override ]] || files+=(--file "${override##*/}")
  # shellcheck disable=SC2046  # names of variables, which make exports and the user's file may have, too
  (cd "$(dirname "$file")" && unset $(variable_names) $(compgen -e | grep -E '^COMPOSE_') &&
    docker compose "${files[@]}" --profile '*' config --format json) ||
    die "$BAD_REQUEST" "Compose cannot read SUBJECTS=$SUBJECTS: see above."
}

[ "${BASH_SOURCE[0]}" != "$0" ] || check_names "$@"
