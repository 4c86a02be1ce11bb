package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/process/federation"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// Two brokers of one VO place jobs on the same site, each for its own users' contexts, and
// the site knows both.
func TestUp_TwoBrokersOfOneVO(t *testing.T) {
	thorough.Only(t, "starts processes")
	t.Parallel()
	dir := t.TempDir()
	members, err := federation.LayOut(dir, 1, 0, testPort(32), federation.Simulated)
	if err != nil {
		t.Fatal(err)
	}
	all, err := federation.AddBrokers(dir, members, 2, testPort(32))
	if err != nil || len(all) != 3 || all[0].Name != federation.VO || all[1].Name != "broker2" || all[2].Role != "site" {
		t.Fatal(all, err)
	}
	if again, err := federation.AddBrokers(dir, members, 0, testPort(32)); err != nil || len(again) != 3 || again[1] != all[1] {
		t.Errorf("without --brokers: %v, %v; want those that are there", again, err)
	}
	for _, m := range all[:2] {
		change(t, m.File, `cycle = "5s"`, `cycle = "1s"`)
	}
	startUp(t, dir)
	run := func(args ...string) (string, error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		out, messages, err := runCommand(ctx, args...)
		return out + messages, err
	}
	contexts := []string{filepath.Join(dir, federation.ContextFile), federation.BrokerContext(dir, "broker2")}
	for i, file := range contexts {
		eventually(t, time.Minute, "the site known", func() bool {
			out, err := run("sites", "--json", "--context", file)
			return err == nil && strings.Contains(out, `"listed": true`)
		})
		batch := filepath.Join(dir, fmt.Sprintf("batch%d.toml", i))
		text := fmt.Sprintf("[[job]]\nname = \"job%d\"\nnodes = 4\nlength = \"1h\"\nmin_performance = 0.5\nmax_price = 9.0\n", i)
		if err := os.WriteFile(batch, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := run("submit", batch, "--context", file); err != nil {
			t.Fatal(err, out)
		}
	}
	eventually(t, time.Minute, "a leg of each broker at the site", func() bool {
		out, err := run("reservations", "--at", "north", "--json", "--context", contexts[0])
		return err == nil && strings.Contains(out, `"broker": "vo1"`) && strings.Contains(out, `"broker": "broker2"`)
	})
	if out, err := run("jobs", "--context", contexts[1]); err != nil || strings.Contains(out, "job0") || !strings.Contains(out, "job1") {
		t.Errorf("the second broker has %v\n%s", err, out)
	}
}
