package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/tree/thorough"
)

// gridLog is a grid's log like the one of docs/STUDIES.md, but small: ten partitions of
// 30 jobs each, in eleven days.
func gridLog(t *testing.T) []byte {
	t.Helper()
	var text bytes.Buffer
	z := gzip.NewWriter(&text)
	fmt.Fprintln(z, "; Version: 2.2\n; MaxProcs: 100\n; UnixStartTime: 1132444805")
	for job := 1; job <= 300; job++ {
		nodes, length := 1+job%4, 3600*(1+job%11)
		fmt.Fprintf(z, "%d %d 0 %d %d -1 -1 %d %d -1 1 %d 1 1 1 %d -1 -1\n", job, 3100*job, length, nodes, nodes, length, 1+job%7, 1+job*7%10)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// TestStudies runs the commands of docs/STUDIES.md that its four questions take, in
// their order and in one folder, with two seeds each, a coarse search and a small log.
// The figures on the page are those of the commands as they stand there; here the
// columns are held against it.
func TestStudies(t *testing.T) {
	t.Parallel()
	thorough.Only(t, "runs twenty simulations of several days")
	dir := readersFolder(t)
	for _, log := range []string{"LCG-2005-1.swf.gz", "SDSC-SP2-1998-4.2-cln.swf.gz", "KTH-SP2-1996-2.1-cln.swf.gz"} {
		if err := os.WriteFile(filepath.Join(dir, log), gridLog(t), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	small := func(block string) string {
		block = regexp.MustCompile(`(?m)^runs = \d+`).ReplaceAllString(block, "runs = 2")
		block = regexp.MustCompile(`(?m)^precision = [0-9.]+`).ReplaceAllString(block, "precision = 5000.0")
		return regexp.MustCompile(`(?m)^bourse convert .*$`).ReplaceAllString(block, "$0\nsed -i 's/^jobs = .*/jobs = 40/' grid.toml")
	}
	blocks := blocksOf(t, "STUDIES.md", 8)
	last := ""
	for i, b := range blocks {
		if b[1] == "text" {
			if head, _, _ := strings.Cut(b[2], "\n"); strings.HasPrefix(head, "#") || strings.Contains(head, "Seeds that meet it") {
				for _, word := range strings.Fields(head) {
					if !strings.Contains(last, word) {
						t.Errorf("block %d has a column %q, which is not in\n%s", i+1, word, last)
					}
				}
			} else if first, _, _ := strings.Cut(last, "\n"); strings.Count(head, ",") != strings.Count(first, ",") {
				t.Errorf("block %d has other columns than\n%s", i+1, last)
			}
			continue
		}
		run := exec.Command("sh", "-e")
		run.Dir, run.Stdin = dir, strings.NewReader(small(b[2]))
		run.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := run.CombinedOutput()
		if last = string(out); err != nil {
			t.Fatalf("block %d: %v\n%s%s", i+1, err, b[2], out)
		}
	}
	for _, name := range []string{"policy/differences.csv", "balance/differences.csv", "budget/tries.csv", "delay/differences.csv"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || bytes.Count(text, []byte("\n")) < 3 {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}
