package tree

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// A release is not rewritten: its part of CHANGELOG.md is that of its commit, and this build must
// still read every message that the release sends. A tree without that commit, such as a shallow
// clone, cannot tell.
func TestRelease_WhatItHasSaidStays(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(read(t, "cmd/bourse/version/releases.txt")) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] == "#" {
			continue
		}
		version, commit := strings.TrimPrefix(f[0], "v"), f[2]
		if exec.Command("git", "cat-file", "-e", commit+"^{commit}").Run() != nil {
			t.Skipf("%s, commit %s, is not in this tree's history: it is no clone, or a shallow one", version, commit)
		}
		was, now := changes(then(t, commit, "CHANGELOG.md"), version), changes(read(t, "CHANGELOG.md"), version)
		for line := range strings.Lines(now) {
			if !strings.Contains(was, line) {
				t.Errorf("CHANGELOG.md: %s did not have this line, which belongs under Unreleased: %s", version, line)
			}
		}
		if !t.Failed() && was != now {
			t.Errorf("CHANGELOG.md: the part of %s is not what it was (git show %s:CHANGELOG.md)", version, commit)
		}
		messages := read(t, "agents/wire/testdata/v"+f[3]+".txt")
		for line := range strings.Lines(then(t, commit, "agents/wire/testdata/v"+f[3]+".txt")) {
			if !strings.Contains(messages, line) {
				t.Errorf("agents/wire/testdata/v%s.txt: a message of %s is gone: %.60s", f[3], version, line)
			}
		}
	}
}

// then is a file as it was in a commit.
func then(t *testing.T, commit, name string) string {
	t.Helper()
	text, err := exec.Command("git", "show", commit+":"+name).Output()
	if err != nil {
		t.Fatalf("git show %s:%s: %v", commit, name, err)
	}
	return string(text)
}

// changes is the part of a changelog about a version.
func changes(changelog, version string) string {
	_, rest, _ := strings.Cut(changelog, "\n## ["+version+"] - ")
	if i := regexp.MustCompile(`(?m)^## `).FindStringIndex(rest); i != nil {
		rest = rest[:i[0]]
	}
	return rest
}
