package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const zeroClauseBSD = `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted.
THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR
CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT,
NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
`

func TestLicencesOfAFolder(t *testing.T) {
	for text, want := range map[string][]string{
		"":                         {"unknown-text-of-LICENSE.md"},
		"Ask before you use this.": {"unknown-text-of-LICENSE.md"},
		zeroClauseBSD:              {"0BSD"},
		zeroClauseBSD + "https://www.gnu.org/licenses/agpl.txt": {"0BSD", "AGPL-3.0"},
	} {
		folder := t.TempDir()
		if found := licences(folder); len(found) != 0 {
			t.Errorf("%v in an empty folder", found)
		}
		if err := os.WriteFile(filepath.Join(folder, "LICENSE.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if found := licences(folder); !slices.Equal(found, want) {
			t.Errorf("%q gives %v, not %v", text, found, want)
		}
	}
}
