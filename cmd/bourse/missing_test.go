package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A file that is not there is what a command says first, whatever else it lacks.
func TestFile_ThatIsNotThereIsSaidFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, words := range []string{
		"simulate FILE.toml", "sweep FILE.toml", "sweep plan FILE.toml", "replay FILE.swf", "twin FILE.sacct", "report FILE", "export FILE",
		"quote FILE.toml", "quote FILE.sh", "forecast FILE.json", "plan FILE.toml", "search FILE.toml", "gather FILE.toml",
		"check FILE.toml", "convert FILE.swf FILE.out", "submit FILE.toml", "submit FILE.sh", "submit FILE.toml --dry-run",
		"broker FILE.toml", "site FILE.toml", "journal show FILE", "journal verify FILE", "journal copy FILE FILE.out", "jobs --context FILE",
	} {
		args := strings.Fields(strings.ReplaceAll(words, "FILE", filepath.Join(dir, "none")))
		if _, msg, code := workloadCommand(args...); code != 2 && code != 1 || !strings.Contains(msg, filepath.Join(dir, "none")) || !strings.Contains(msg, "no such file or directory") {
			t.Errorf("%s: exit %d: %s", words, code, msg)
		}
	}
}
