package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/tree/thorough"
)

// built is the command that a reader builds; the test has built it.
const built = "go build -o bourse ./cmd/bourse\n"

// readersBuild is the folder of readersBinary, "" until that is called; TestMain removes it.
var readersBuild string

// readersBinary is bourse as a reader builds it, once for all tests of this package.
var readersBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "bourse-")
	if err != nil {
		return "", err
	}
	readersBuild = dir
	binary := filepath.Join(dir, "bourse")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		return binary, fmt.Errorf("%w: %s", err, out)
	}
	return binary, nil
})

// readersFolder is a new folder with the binary in it.
func readersFolder(t *testing.T) string {
	t.Helper()
	binary, err := readersBinary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Link(binary, filepath.Join(dir, "bourse")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// blocksOf are the blocks of a page of the documents, at least so many: of each its
// language, sh for commands or text for an output, and its text.
func blocksOf(t *testing.T, name string, least int) [][]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if n := strings.Count(string(page), "```"); len(blocks) < least || n != 2*len(blocks) {
		t.Fatalf("%d blocks of commands and outputs among %d fences; every block is one of sh or text", len(blocks), n)
	}
	return blocks
}

// TestTutorial runs every command of docs/TUTORIAL.md, in order, in one folder, as
// a reader would from the top of the repository. What the page shows of an output
// must be there.
func TestTutorial(t *testing.T) {
	t.Parallel()
	thorough.Only(t, "simulates for ten seconds and waits for a minute")
	dir := readersFolder(t)
	t.Cleanup(func() { awaitEnd(t, filepath.Join(dir, "up.pid")) }) // it writes in the folder to its end
	if err := os.CopyFS(filepath.Join(dir, "configs/presets"), os.DirFS("../../configs/presets")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // what the page begins it also ends, unless it fails in between
		if pid, err := os.ReadFile(filepath.Join(dir, "up.pid")); err == nil {
			_ = exec.Command("kill", strings.TrimSpace(string(pid))).Run()
		}
	})
	blocks := blocksOf(t, "TUTORIAL.md", 10)
	last := ""
	for i, b := range blocks {
		if b[1] == "text" {
			for line := range strings.Lines(b[2]) {
				if !strings.Contains(last, strings.TrimSpace(line)) {
					t.Errorf("block %d shows %q, which is not in\n%s", i+1, line, last)
				}
			}
			continue
		}
		run := exec.Command("sh", "-e")
		run.Dir, run.Stdin = dir, strings.NewReader(strings.Replace(b[2], built, "", 1))
		out, err := run.CombinedOutput()
		if last = string(out); err != nil {
			t.Fatalf("block %d: %v\n%s%s", i+1, err, b[2], out)
		}
		if testing.Verbose() {
			fmt.Printf("%s%s\n", b[2], out)
		}
	}
}

// awaitEnd waits until the process whose number a file holds has ended, a reader's
// federation that was told to stop; without a file there is none.
func awaitEnd(t *testing.T, file string) {
	t.Helper()
	pid, err := os.ReadFile(file)
	if err != nil {
		return
	}
	stat := filepath.Join("/proc", strings.TrimSpace(string(pid)), "stat")
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		if b, err := os.ReadFile(stat); err != nil || strings.Contains(string(b), ") Z ") {
			return
		}
	}
	t.Error("the federation of the tutorial has not ended a minute after it was told to")
}
