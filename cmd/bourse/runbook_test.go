package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/process/federation"
	"github.com/bourse-grid/bourse/web/client"
)

// cardLines are the commands of a card of docs/RUNBOOK.md.
func cardLines(t *testing.T, card string) (list []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n## "+card+"\n")
	if !found {
		t.Fatalf("docs/RUNBOOK.md has no card %q", card)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	for i, block := range strings.Split(rest, "\n```") {
		if i%2 == 1 {
			list = append(list, strings.Split(strings.TrimPrefix(block, "sh\n"), "\n")...)
		}
	}
	return list
}

// typed types such a line in a shell whose bourse is this one.
func typed(t *testing.T, line, context string, env ...string) (said string, exit int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", "bourse() { '"+self+"' \"$@\"; }\n"+line)
	cmd.Env = append(append(os.Environ(), federation.ChildMark+"=1", client.Variable+"="+context), env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("%s: %v", line, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
