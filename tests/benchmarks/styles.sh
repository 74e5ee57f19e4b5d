# Which runs of benchmarks/style.jsonl count, and what its table makes of them. Source it after benchmarks/lib.sh.
# shellcheck shell=bash

SPOILT='(.verdict == "invalid" or .cpu_ms_per_request == null
  or (.told | any(IN("stolen", "much_stolen", "foreign_cpu", "much_foreign_cpu"))))'

# missing ROUND LOAD STYLE: the approaches that have no run there that counts, with commas between them.
missing() {
  jq --raw-output --slurp --arg series "$SERIES" --arg style "$3" --argjson round "$1" --argjson load "$2" --arg names "$(approaches idiomatic)" '
    [.[] | select(.series == $series and .round == $round and .concurrency == $load and .style == $style and ('"$SPOILT"' | not))
      | .approach] as $there | $names | split("\n") - $there | join(",")' <"$LINES_FILE"
}

table() {
  jq --compact-output --slurp --arg series "$SERIES" --arg names "$(approaches idiomatic)" '
    def round3: . * 1000 | round / 1000;
    def line($text; $ratios): {text: $text, ratios: $ratios};
    ($names | split("\n")) as $names | [.[] | select(.series == $series)] as $all
    | [$all[] | select('"$SPOILT"' | not)] as $counted
    | line("\($all | length) runs, \($counted | length) of them counted; CPU ms per request, ratios within rounds"; []),
      ($counted | group_by(.concurrency)[] | .[0].concurrency as $load
        | (reduce .[] as $run ({}; .[$run.approach][$run.style]["\($run.round)"] = $run.cpu_ms_per_request)) as $cpu
        | def of($approach; $style): $cpu[$approach][$style] // {};
          def quotients($a; $b): [$a | keys[] | select($b[.]) | {key: ., value: ($a[.] / $b[.])}] | from_entries;
          def ratios($a; $b): [quotients($a; $b)[]];
          def rounds: "(rounds: \(length))";
          def median: [.[]] | sort | if length == 0 then "–" else (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2 | round3 end;
          line("\($load) connections"; []),
          ($names[] as $a | line("  \($a): lean \(of($a; "lean") | median), idiomatic \(of($a; "idiomatic") | median) (medians); "
            + "idiomatic ÷ lean {0} \(ratios(of($a; "idiomatic"); of($a; "lean")) | rounds)";
              [ratios(of($a; "idiomatic"); of($a; "lean"))])),
          (range($names | length) as $i | range($i + 1; $names | length) as $j | $names[$i] as $a | $names[$j] as $b
            | quotients(of($b; "lean"); of($a; "lean")) as $lean | quotients(of($b; "idiomatic"); of($a; "idiomatic")) as $idiomatic
            | line("  \($b) ÷ \($a): lean {0}, idiomatic {1}, the second ÷ the first {2} \(ratios($idiomatic; $lean) | rounds)";
              [[$lean[]], [$idiomatic[]], ratios($idiomatic; $lean)]))),
      ($all[] | select(.verdict != "valid")
        | line("  \(.concurrency), round \(.round), \(.style), \(.approach), \(if '"$SPOILT"' then "left out" else "counted" end): "
          + "\(.verdict): \(.reasons | join(" ") | gsub("[{}]"; ""))"; []))' \
    <"$LINES_FILE" | ratios
}
