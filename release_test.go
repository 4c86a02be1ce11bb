package bourse_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// go install takes a module at a version only if its go.mod changes nothing about
// other modules.
func TestModule_HasNothingThatGoInstallRefuses(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), "module "+module+"\n") {
		t.Errorf("go.mod does not begin with module %s", module)
	}
	if m := regexp.MustCompile(`(?m)^\s*(replace|exclude)\b.*`).Find(text); m != nil {
		t.Errorf("go.mod has %q", m)
	}
}
