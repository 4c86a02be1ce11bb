package conformance

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/cluster/command"
)

// The driver for OAR reads what OAR prints. That it runs work and pilots was tried with the real one.
func TestCheck_TheDriverForOARReadsItsAnswers(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	fake, err := filepath.Abs("testdata/oar/oar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"oarnodes", "oarstat", "oarsub", "oardel"} {
		if err := os.Symlink(fake, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	driver, err := filepath.Abs("../../../docs/examples/oar.py")
	if err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")
	list := Check(context.Background(), Options{Names: "t.", User: "ana",
		Driver: command.Config{Command: []string{"/usr/bin/env", path, "PYTHONDONTWRITEBYTECODE=1", python(t), driver, "--folder", t.TempDir()}, Site: "check", Prefix: "bourse.check.", Hello: time.Minute}})
	for _, r := range list {
		if r.State == Failed {
			t.Errorf("%d %s: %s", r.Number, r.Name, r.Words)
		}
		if r.Name == "looks" && r.Words != "4 nodes, 2 jobs" {
			t.Errorf("looks: %s", r.Words)
		}
	}
}
