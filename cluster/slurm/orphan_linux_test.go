package slurm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A command that is under way when the site's process is killed ends with it.
func TestCommands_EndWithTheProcessThatGivesThem(t *testing.T) {
	const mark = "BOURSE_TEST_GIVES"
	if file := os.Getenv(mark); file != "" {
		_, err := Commands{Limit: time.Hour}.Run(context.Background(), "sh", "-c", "echo $$ >"+file+".new; mv "+file+".new "+file+"; exec sleep 3600")
		t.Fatal(err) // nobody sees it
	}
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	giver := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	giver.Env = append(os.Environ(), mark+"="+file)
	if err := giver.Start(); err != nil {
		t.Fatal(err)
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("not within two minutes: %s", what)
			}
		}
	}
	var pid []byte
	until("it runs", func() (ok bool) { pid, _ = os.ReadFile(file); return len(pid) > 0 })
	if err := giver.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = giver.Wait()
	until("it has ended", func() bool {
		said, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", strings.TrimSpace(string(pid))))
		return err != nil || strings.Contains(string(said), ") Z ")
	})
}
