# What a request asks for. Source it after lib.sh; it uses `whole` and DELAY_MAX_MS of bin/plan.
# shellcheck shell=bash

ENDPOINTS="/capabilities /meetings /epoch-millis /movies /httpbin/block/SECONDS /pinned"

# full_endpoint ENDPOINT DELAY_MS: path and query as they are sent; what the endpoint needs and the query lacks is added.
full_endpoint() {
  local endpoint=$1
  [[ $endpoint =~ ^/[A-Za-z0-9/._~%-]*(\?[A-Za-z0-9._~%=\&+-]*)?$ ]] || unknown_endpoint "$endpoint"
  case ${endpoint%%\?*} in
    /capabilities | /meetings) ;;
    /epoch-millis | /pinned) endpoint=$(with_parameter "$endpoint" delayInMillis "$2") ;;
    /movies) endpoint=$(with_parameter "$(with_parameter "$endpoint" directorLastName Allen)" delayInMillis "$2") ;;
    /httpbin/block | /httpbin/block/)
      die "$BAD_REQUEST" "ENDPOINT=$1 lacks its seconds: use for instance ENDPOINT=/httpbin/block/0.3."
      ;;
    /httpbin/block/*) check_seconds "${endpoint%%\?*}" ;;
    *) unknown_endpoint "$endpoint" ;;
  esac
  check_delay "$endpoint"
  printf '%s\n' "$endpoint"
}

unknown_endpoint() { die "$BAD_REQUEST" "ENDPOINT=$1 is unknown: use one of $ENDPOINTS."; }

# with_parameter ENDPOINT NAME VALUE: the endpoint, with that parameter unless its query has it.
with_parameter() {
  case $1 in
    *[?\&]"$2="*) printf '%s\n' "$1" ;;
    *\?) printf '%s%s=%s\n' "$@" ;;
    *\?*) printf '%s&%s=%s\n' "$@" ;;
    *) printf '%s?%s=%s\n' "$@" ;;
  esac
}

# parameter ENDPOINT NAME: its value in the query, or nothing.
parameter() { printf '%s\n' "${1#*\?}" | tr '&' '\n' | sed -n "s/^$2=//p" | head -n 1; }

check_delay() {
  case $1 in
    *[?\&]delayInMillis=*) whole delayInMillis "$(parameter "$1" delayInMillis)" 0 "$DELAY_MAX_MS" 300 ;;
  esac
}

check_seconds() {
  local seconds=${1#/httpbin/block/}
  [[ $seconds =~ ^(0|[1-9][0-9]?)(\.[0-9]{1,3})?$ ]] && [ "$(milliseconds "$seconds")" -le "$DELAY_MAX_MS" ] ||
    die "$BAD_REQUEST" "ENDPOINT=$1 does not wait from 0 to 60 seconds, with at most three decimals: use for instance ENDPOINT=/httpbin/block/0.3."
}

milliseconds() { # of decimal seconds
  local fraction=000
  case $1 in *.*) fraction=${1#*.}000 ;; esac
  echo $((${1%.*} * 1000 + 10#${fraction:0:3}))
}

# answer_ms ENDPOINT DELAY_MS: the shortest time in which the full endpoint can answer.
answer_ms() {
  case $1 in
    *[?\&]delayInMillis=*) parameter "$1" delayInMillis ;;
    *) backend_wait_ms "$1" "$2" ;;
  esac
}

# backend_wait_ms ENDPOINT DELAY_MS: how long a request to the full endpoint holds a backend connection; 0: it needs none.
backend_wait_ms() {
  local path=${1%%\?*}
  case $path in
    /capabilities | /meetings) echo $((3 * $2)) ;;
    /httpbin/block/*) milliseconds "${path#/httpbin/block/}" ;;
    *) echo 0 ;;
  esac
}
