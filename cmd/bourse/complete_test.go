package main

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
)

func TestComplete_AFlagHasTheWordsOfItsKey(t *testing.T) {
	t.Parallel()
	for command, flags := range flagKeys {
		for flag, key := range flags {
			want := configs.Words(key)
			out, _, code := workloadCommand("__complete", command, "--"+flag, "")
			got := strings.Split(strings.TrimSpace(out), "\n")
			if code != 0 || len(want) < 2 || len(got) != len(want)+1 || got[0] != want[0] || got[len(want)] != ":4" {
				t.Errorf("%s --%s: exit %d, %q; want %q", command, flag, code, got, want)
			}
		}
	}
	if out, _, _ := workloadCommand("__complete", "simulate", "--preset", ""); !strings.HasPrefix(out, "default\n") {
		t.Errorf("presets: %q", out)
	}
}

// A flag's help names the words that the key of a file takes.
func TestHelp_NamesTheWordsOfAFlag(t *testing.T) {
	t.Parallel()
	for _, cmd := range newRoot().Commands() {
		for flag, key := range flagKeys[cmd.Name()] {
			for _, w := range configs.Words(key) {
				if usage := cmd.Flags().Lookup(flag).Usage; !strings.Contains(usage, w) {
					t.Errorf("%s --%s: %q does not name %s", cmd.Name(), flag, usage, w)
				}
			}
		}
	}
}
