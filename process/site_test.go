package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/configs"
)

// A new key is worth a warning where there is a journal, whose facts another key may have
// proved; the first start of a new site has nothing to lose.
func TestSite_ANewKeyIsAWarningOnlyBesideAJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var said bytes.Buffer
	p := &process{name: "site:north", log: zerolog.New(&said), cfg: &configs.Process{Journal: configs.Journal{Dir: dir}}}
	level := func() string {
		said.Reset()
		p.proofKeyMade("north.proof")
		if !strings.Contains(said.String(), "keep a copy of it") {
			t.Errorf("it says %s", said.String())
		}
		_, after, _ := strings.Cut(said.String(), `"level":"`)
		level, _, _ := strings.Cut(after, `"`)
		return level
	}
	if got := level(); got != "info" {
		t.Errorf("no journal: %s", got)
	}
	folder := p.folder(p.name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := level(); got != "info" {
		t.Errorf("an empty journal: %s", got)
	}
	if err := os.WriteFile(filepath.Join(folder, "00000001.journal"), []byte("facts"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := level(); got != "warn" {
		t.Errorf("a journal: %s", got)
	}
}
