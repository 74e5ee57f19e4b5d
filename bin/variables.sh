#!/usr/bin/env bash
# Which variables of the user there are, and which verbs take them. Run by make as `variables.sh VERBS NAMES...`, it refuses a
# name of make's command line that there is not, or that none of the verbs takes.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

VARIABLES=$LAB_ROOT/bin/variables.tsv # `loomlab variables` wrote it: name, example, verbs, ! after those that need it
# What a user's shell may export for purposes of its own is not handed to verbs that do not take it.
COMMON=" NAME SCALE TOOL JDK SIZE PAPER SHORT PART TRIES VARIABLE "

variable_names() { cut -f 1 "$VARIABLES"; }

# check_variables VERB: refuses a verb that lacks what it needs, and what the environment has and the verb does not take.
check_variables() {
  local name example verbs
  while IFS=$'\t' read -r name example verbs; do
    case " $verbs " in
      *" $1 "*) continue ;;
      *" $1! "*) [ -n "${!name:-}" ] || die "$BAD_REQUEST" "$name is not set: use for instance make $1 $name=$example." ;;
      *) [[ $COMMON == *" $name "* ]] && unset "$name" || [ -z "${!name:-}" ] ||
        die "$BAD_REQUEST" "$name=${!name} does not go with make $1: leave it out." ;;
    esac
  done <"$VARIABLES"
}

# check_names VERBS NAMES...
check_names() {
  local name verb verbs
  for name in "${@:2}"; do
    verbs=$(awk -F '\t' -v name="$name" '$1 == name { gsub("!", "", $3); print $3 }' "$VARIABLES")
    [ -n "$verbs" ] ||
      die "$BAD_REQUEST" "$name is no variable of the lab: the nearest is $(nearest "$name"); README.md lists them."
    for verb in $1; do [[ " $verbs " != *" $verb "* ]] || continue 2; done
    die "$BAD_REQUEST" "$name does not go with make $1: leave it out; it goes with $verbs."
  done
}

# nearest NAME: by Levenshtein's distance.
nearest() {
  variable_names | awk -v wanted="$1" '
    function least(a, b) { return a < b ? a : b }
    {
      for (j = 0; j <= length(wanted); j++) row[j] = j
      for (i = 1; i <= length($0); i++) {
        diagonal = row[0]; row[0] = i
        for (j = 1; j <= length(wanted); j++) {
          above = row[j]
          row[j] = least(least(above, row[j - 1]) + 1, diagonal + (substr($0, i, 1) != substr(wanted, j, 1)))
          diagonal = above
        }
      }
      print row[length(wanted)], $0
    }' | sort -n | sed -n '1s/.* //p'
}

# ask_loomlab COMMAND ARGUMENTS...: loomlab's command, with what the user set. Before .env's defaults are loaded, which would
# pass for that.
ask_loomlab() {
  local name options=()
  for name in $(variable_names) WARMUP_LOAD_S; do
    [ -z "${!name:-}" ] || options+=(--env "$name=${!name}")
  done
  loomlab ${options[@]+"${options[@]}"} -- "$@"
}

[ "${BASH_SOURCE[0]}" != "$0" ] || check_names "$@"
