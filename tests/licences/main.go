// licences: for each Go module that `go list -deps` named on stdin (path, version, its folder, a package's folder), a line with the
// licences whose texts it holds between its root and the packages that are used. A module without a text gets none.
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

func main() {
	found := map[string][]string{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		word := strings.Fields(lines.Text())
		if len(word) != 4 { // the standard library, and the lab's own
			continue
		}
		module, root := word[0]+"\t"+word[1], word[2]
		found[module] = append(found[module], "")
		for folder := word[3]; strings.HasPrefix(folder, root); folder = filepath.Dir(folder) {
			found[module] = append(found[module], licences(folder)...)
		}
	}
	for module, ids := range found {
		slices.Sort(ids)
		fmt.Printf("go\t%s\t%s\n", module, strings.Join(slices.Compact(ids)[1:], " AND "))
	}
}

func licences(folder string) (ids []string) {
	for _, pattern := range []string{"[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]*", "[Cc][Oo][Pp][Yy][Ii][Nn][Gg]*", "UNLICENSE*"} {
		files, _ := filepath.Glob(filepath.Join(folder, pattern))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil { // a folder
				continue
			}
			coverage := licensecheck.Scan(text)
			for _, match := range coverage.Match {
				ids = append(ids, match.ID)
			}
			if coverage.Percent < 75 {
				ids = append(ids, "unknown-text-of-"+filepath.Base(file))
			}
		}
	}
	return ids
}
