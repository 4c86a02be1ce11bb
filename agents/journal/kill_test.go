package journal

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// A process killed at any moment loses nothing that it acknowledged. A child appends,
// syncs and reports its progress, and sometimes begins a new segment, until it is killed.
// The next child continues where it stopped.
func TestJournal_KeepsWhatWasAcknowledgedWhenKilled(t *testing.T) {
	t.Parallel()
	if path := os.Getenv("BOURSE_TEST_JOURNAL"); path != "" {
		acknowledge(t, path)
		return
	}
	path := t.TempDir()
	draw := rand.New(rand.NewPCG(1, 2))
	acked := 0
	for life := range 8 {
		if life > 0 {
			disk, err := OpenFolder(path)
			if err != nil {
				t.Fatal(err)
			}
			j, _ := mustOpen(t, disk, withImage)
			if int(j.Facts()) < acked {
				t.Fatalf("life %d acknowledged %d facts, %d are left", life, acked, j.Facts())
			}
			if err := disk.Close(); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(os.Args[0], "-test.run", "^TestJournal_KeepsWhatWasAcknowledgedWhenKilled$")
		cmd.Env = append(os.Environ(), "BOURSE_TEST_JOURNAL="+path)
		pipe, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		armed := false
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				continue // a word of the child's failure, which shows below
			}
			acked = n
			if !armed {
				armed = true
				time.AfterFunc(time.Duration(draw.IntN(60))*time.Millisecond, func() { _ = cmd.Process.Kill() })
			}
		}
		if !armed {
			t.Fatalf("life %d acknowledged nothing", life)
		}
		_ = cmd.Wait() // it was killed
	}
}

// acknowledge is the child.
func acknowledge(t *testing.T, path string) {
	disk, err := OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	j, _ := mustOpen(t, disk, withImage)
	for n := int(j.Facts()) + 1; ; n++ {
		if err := j.Append(grid.Time(n), leg(n)); err != nil {
			t.Fatal(err)
		}
		if n%3 > 0 {
			continue
		}
		if n%30 == 0 {
			err = j.Snapshot(grid.Time(n), image{uint64(n)})
		} else {
			err = j.Sync()
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(j.Facts())
	}
}
