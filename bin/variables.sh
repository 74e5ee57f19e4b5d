# Which variables of the user there are, and which verbs take them. Source it after lib.sh.
# shellcheck shell=bash

VARIABLES=$LAB_ROOT/bin/variables.tsv # `loomlab variables` wrote it

variable_names() { cut -f 1 "$VARIABLES"; }

# check_variables VERB: refuses a verb that lacks what it needs, and what is set and does not go with it. Names that a user's shell may
# have for purposes of its own are left out instead.
check_variables() {
  local name example verbs told
  while IFS=$'\t' read -r name example verbs told; do
    case " $verbs " in
      *" $1 "*) ;;
      *" $1! "*) [ -n "${!name:-}" ] || die "$BAD_REQUEST" "$name is not set: use for instance make $1 $name=$example." ;;
      *)
        case $name in
          NAME | SCALE | TOOL | JDK | SIZE | PAPER | SHORT | PART | TRIES | VARIABLE) unset "$name" ;;
          *) [ -z "${!name:-}" ] || die "$BAD_REQUEST" "$name=${!name} does not go with make $1: leave it out." ;;
        esac
        ;;
    esac
  done <"$VARIABLES"
}

# check_given VERBS NAMES...: refuses a variable of make's command line that there is not, or that none of the verbs takes.
check_given() {
  local goals=$1 name goal verbs
  shift
  for name in "$@"; do
    verbs=$(awk -F '\t' -v name="$name" '$1 == name { gsub("!", "", $3); print $3 }' "$VARIABLES")
    [ -n "$verbs" ] || die "$BAD_REQUEST" "$name is no variable of the lab: the nearest is $(nearest "$name"); README.md lists them."
    for goal in $goals; do
      case " $verbs " in *" $goal "*) continue 2 ;; esac
    done
    die "$BAD_REQUEST" "$name does not go with make $goals: leave it out; it goes with $verbs."
  done
}

# nearest NAME: by Levenshtein's distance.
nearest() {
  variable_names | awk -v wanted="$1" '
    function least(a, b) { return a < b ? a : b }
    {
      for (j = 0; j <= length(wanted); j++) row[j] = j
      for (i = 1; i <= length($0); i++) {
        before = row[0]; row[0] = i
        for (j = 1; j <= length(wanted); j++) {
          above = row[j]
          row[j] = least(least(row[j], row[j - 1]) + 1, before + (substr($0, i, 1) != substr(wanted, j, 1)))
          before = above
        }
      }
      if (best == "" || row[length(wanted)] < distance) { best = $0; distance = row[length(wanted)] }
    }
    END { print best }'
}

# check_resume: RESUME becomes the name of a folder of results/, or stays `latest`.
check_resume() {
  local name=${RESUME%/}
  [ -n "${RESUME:-}" ] || return 0
  name=${name##*/}
  [ -n "$name" ] || die "$BAD_REQUEST" "RESUME=$RESUME names no folder of results/: use one of them, or RESUME=latest."
  RESUME=$name
}

# asked COMMAND ARGUMENTS...: loomlab's command, with what the user set. Before .env's defaults are loaded, which would pass
# for that.
asked() {
  local name options=()
  for name in $(variable_names) WARMUP_LOAD_S; do
    [ -z "${!name:-}" ] || options+=(--env "$name=${!name}")
  done
  loomlab ${options[@]+"${options[@]}"} -- "$@"
}
