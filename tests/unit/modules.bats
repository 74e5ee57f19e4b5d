#!/usr/bin/env bats
# What docs/adding-an-approach.md promises of the modules in services/, without an engine.

load ../helpers

# at_most WORDS: the limit that the page has before these words.
at_most() { tr '\n' ' ' <"$LAB_ROOT/docs/adding-an-approach.md" | sed -nE "s/.*at most ([0-9]+) (lines )?$1.*/\1/p"; }

# lines_of MODULE: without blank ones, comments, imports and packages, and without the idiomatic style.
lines_of() {
  find "$LAB_ROOT/services/$1/src/main/java" -name '*.java' ! -path '*/idiomatic/*' -exec cat {} + | awk '
    inside { if (/\*\//) inside = 0; next }
    /^ *\/\*/ { inside = !/\*\//; next }
    !/^ *(\/\/.*)?$/ && !/^(import|package) / { lines++ }
    END { print lines + 0 }'
}

@test "the module of an approach has no more lines of its own than the page says" {
  local on_mvc alone module limit lines modules=0
  on_mvc=$(at_most "on Spring MVC")
  alone=$(at_most "on a bare server")
  while IFS= read -r module; do
    limit=$alone
    if grep -q '<artifactId>mvc<' "$LAB_ROOT/services/$module/pom.xml"; then limit=$on_mvc; fi
    lines=$(lines_of "$module")
    modules=$((modules + 1))
    { [ "$lines" -gt 0 ] && [ "$lines" -le "$limit" ]; } || { echo "$module: $lines lines, not at most $limit"; return 1; }
  done < <(sed -nE '/APPROACH:/s/.*MODULE: ([a-z]+).*/\1/p' "$LAB_ROOT/compose.yaml" | sort -u)
  [ "$modules" -ge 5 ]
}
