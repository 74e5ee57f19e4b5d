# What the user's variables may be. Source it after lib.sh.
# shellcheck shell=bash

VARIABLES_FILE=$LAB_ROOT/loadgen/src/loomlab/plan/variables.txt

# filled TEXT: with the lab's own names in place of {approaches}, {sizes}, {scenarios}, {papers}.
filled() {
  local text=$1
  case $text in *'{'*) ;; *) printf '%s' "$text" && return ;; esac
  text=${text//'{approaches}'/$(approaches | paste -sd, - | sed 's/,/, /g')}
  text=${text//'{sizes}'/$(names_of "$LAB_ROOT/sizes" env)}
  text=${text//'{scenarios}'/$(names_of "$LAB_ROOT/loadgen/scenarios" yaml)}
  printf '%s' "${text//'{papers}'/$(names_of "$LAB_ROOT/loadgen/published" yaml)}"
}

names_of() { (cd "$1" && printf '%s\n' *."$2" | sed "s/\.$2\$//" | paste -sd, - | sed 's/,/, /g'); }

matches() {
  local pattern="^($2)\$"
  [[ $1 =~ $pattern ]]
}

# rises TEXT STEP: whether each of the numbers in it is larger than the one before by STEP at least.
rises() {
  local number last=-1
  for number in ${1//[!0-9]/ }; do
    [ "$((10#$number))" -ge "$((last + $2))" ] || return 1
    last=$((10#$number))
  done
}

listed() {
  local words
  words=$(filled "${2#of }")
  [[ -n $1 && $1 != *[' ,']* && " ${words//,/} " == *" $1 "* ]]
}

# breaks VALUE CHECK REST: whether the value breaks that line of a stanza; sets WRONG to the part of it that does.
breaks() {
  local value=$1 rest=$3
  WRONG=$value
  case $2 in
    like) ! matches "$value" "$rest" ;;
    unlike) matches "$value" "$rest" ;;
    range) [ "$value" -lt "${rest% *}" ] || [ "$value" -gt "${rest#* }" ] ;;
    rising) ! rises "$value" 0 ;;
    climbing) ! rises "$value" 1 ;;
    one) ! listed "$value" "$rest" ;;
    list)
      while IFS= read -r WRONG; do
        listed "$WRONG" "$rest" || { WRONG=${WRONG:-$value} && return 0; }
      done < <(printf '%s\n' "$value" | tr ',' '\n')
      return 1
      ;;
  esac
}

# check_variables: refuses the first variable of the environment that is set to what it may not be.
check_variables() {
  local line kind rest name="" value="" wrong=no applies=yes
  while IFS= read -r line; do
    case $line in
      '' | '#'*) continue ;;
      [[:upper:]]*) name=$line value=${!line:-} wrong=no applies=yes && continue ;;
    esac
    [ -n "$value" ] || continue
    kind=${line%% *} rest=${line#* }
    case $kind in
      where) matches "$value" "$rest" || applies=no ;;
      unless) ! matches "$value" "$rest" || applies=no ;;
      else)
        [ "$applies" = no ] || [ "$wrong" = no ] || die "$BAD_REQUEST" "$name=$WRONG $(filled "$rest")"
        wrong=no applies=yes
        ;;
      *) if [ "$applies" = yes ] && [ "$wrong" = no ] && breaks "$value" "$kind" "$rest"; then wrong=yes; fi ;;
    esac
  done <"$VARIABLES_FILE"
}

variable_names() { grep -E '^[A-Z_]+$' "$VARIABLES_FILE"; }

# refuse_variables WITH: refuses the first variable that is set, because an order sets it already.
refuse_variables() {
  local name
  for name in $(variable_names | grep -v '_PORT$'); do
    [ -z "${!name:-}" ] || die "$BAD_REQUEST" "$name=${!name} does not go with $1, because the experiment's order.json holds its settings: leave it out."
  done
}

# check_resume VERB: RESUME is a folder of results/ or `latest`, and its order says the rest.
check_resume() {
  local name
  [ -n "${RESUME:-}" ] || return 0
  [ "$1" = finish ] || die "$BAD_REQUEST" "RESUME=$RESUME continues an experiment, but this would start a new one: leave it out, or use make finish RESUME=$RESUME."
  refuse_variables "RESUME=$RESUME"
  name=${RESUME%/} name=${name##*/}
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
