#!/usr/bin/env bash
# Which verbs take which variables. Run by make as `variables.sh VERBS NAMES...`, it refuses names that none of the verbs takes.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# docs/tools/draw wrote it: name, example, verbs (! after those that need it), and `plan` where a plan sets it.
VARIABLES=$LAB_ROOT/bin/variables.tsv
# What a user's shell may export for purposes of its own is not handed to verbs that do not take it.
COMMON=" NAME KEEP SCALE TOOL DESIGN JDK SIZE BENCHMARK SHORT PART TRIES VARIABLE "

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
ask_loomlab() { loomlab $(variable_names | sed 's/^/--env /') -- "$@"; }

[ "${BASH_SOURCE[0]}" != "$0" ] || check_names "$@"
