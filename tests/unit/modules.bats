#!/usr/bin/env bats
# What the modules in services/ may have of their own, without an engine.

load ../helpers

ON_MVC=150 ALONE=450 # lines on Spring MVC, and on a bare server

# lines_of MODULE: without blank ones, comments, imports and packages, and without the idiomatic style.
lines_of() {
  find "$LAB_ROOT/services/$1/src/main/java" -name '*.java' ! -path '*/idiomatic/*' -exec cat {} + | awk '
    inside { if (/\*\//) inside = 0; next }
    /^ *\/\*/ { inside = !/\*\//; next }
    !/^ *(\/\/.*)?$/ && !/^(import|package) / { lines++ }
    END { print lines + 0 }'
}

@test "the module of an approach has few lines of its own" {
  local module limit lines modules=0
  while IFS= read -r module; do
    limit=$ALONE
    if grep -q '<artifactId>mvc<' "$LAB_ROOT/services/$module/pom.xml"; then limit=$ON_MVC; fi
    lines=$(lines_of "$module")
    modules=$((modules + 1))
    { [ "$lines" -gt 0 ] && [ "$lines" -le "$limit" ]; } || { echo "$module: $lines lines, not at most $limit"; return 1; }
  done < <(sed -nE '/APPROACH:/s/.*MODULE: ([a-z]+).*/\1/p' "$LAB_ROOT/compose.yaml" | sort -u)
  [ "$modules" -ge 5 ]
}
