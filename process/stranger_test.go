package process

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/process/failure"
)

// A start by such a file is refused before anything is made, and by the broker's likewise.
func TestStrange_IsAskedBeforeAStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"site-east", "broker-vo2"} {
		if err := os.MkdirAll(filepath.Join(dir, "journal", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const broker = "[broker]\nname = \"vo1\"\nbudget = 5.0\ncycle = \"1h\"\nhorizon = \"1d\"\n[listen]\naddress = \"127.0.0.1:7402\"\n[gossip]\naddress = \"127.0.0.1:7403\"\nvo = \"vo1\"\n[tls]\nplain = true\n"
	for text, start := range map[string]func(context.Context, string, Options) error{reloadedFile: RunSite, broker: RunBroker} {
		file := filepath.Join(dir, "agent.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := start(t.Context(), file, Options{Stderr: io.Discard}); err == nil || failure.Is(err) || !strings.Contains(err.Error(), "give it a journal.dir of its own") {
			t.Errorf("%v", err)
		}
	}
	if list, err := os.ReadDir(filepath.Join(dir, "journal")); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}

// The file of another site, put in the place of one's own, is refused before it does any harm;
// so is a site whose name was changed. A broker and its site may share a folder.
func TestStrange_AFileOfAnotherBesideAJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := &configs.Process{Journal: configs.Journal{Dir: filepath.Join(dir, "journal")}}
	if err := Strange("site.toml", cfg, "site", "south"); err != nil {
		t.Errorf("without any journal: %v", err)
	}
	for _, name := range []string{"site-north", "site-east.old", "cluster-north", "broker-vo1"} {
		if err := os.MkdirAll(filepath.Join(dir, "journal", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "journal", "broker-vo2.revoked"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"site:north": "", "broker:vo1": "",
		"site:south": `site "south", which has no journal in ` + cfg.Journal.Dir + `, but "north" has`,
		"broker:vo2": `put the one of "vo1" back; if "vo2" is new here, give it a journal.dir of its own`,
	} {
		role, name, _ := strings.Cut(id, ":")
		err := Strange("x.toml", cfg, role, name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", id, err, want)
		}
	}
}
