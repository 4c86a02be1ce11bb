package main

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion_SaysWhatTheBinaryIs(t *testing.T) {
	t.Parallel()
	run := func(args ...string) string {
		var out bytes.Buffer
		root := newRoot()
		root.SetOut(&out)
		root.SetArgs(args)
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	line := run("version")
	for _, want := range []string{"bourse unreleased", "go1.", "wire 1", "journal 1"} {
		if !strings.Contains(line, want) {
			t.Errorf("%q does not have %q", line, want)
		}
	}
	if flag := run("--version"); flag != line {
		t.Errorf("--version says %q, version %q", flag, line)
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(run("version", "--json")), &v); err != nil || v["wire"] != 1. || v["journal"] != 1. {
		t.Errorf("%v, %v", v, err)
	}
}

// A tag is a version however the binary came by it; a commit without one is none.
func TestVersion_IsThatOfTheModuleWhereTheLinkerSaysNone(t *testing.T) {
	t.Parallel()
	const hash = "0123456789abcdef0123456789abcdef01234567"
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: hash}, {Key: "vcs.modified", Value: modified}}
	}
	for _, c := range []struct {
		about, linker, module string
		settings              []debug.BuildSetting
		want                  version
	}{
		{"go install at a version", "unreleased", "v1.2.3", nil, version{Version: "v1.2.3"}},
		{"go install at a candidate", "unreleased", "v1.3.0-rc.1", nil, version{Version: "v1.3.0-rc.1"}},
		{"go install at a commit", "unreleased", "v0.0.0-20261122185516-0123456789ab", nil, version{Version: "unreleased", Commit: hash[:12]}},
		{"a clone at a tag", "unreleased", "v1.2.3", vcs("false"), version{Version: "v1.2.3", Commit: hash}},
		{"a clone at a tag, changed", "unreleased", "v1.2.3+dirty", vcs("true"), version{Version: "v1.2.3", Commit: hash, Modified: true}},
		{"a clone behind a tag", "unreleased", "v1.2.4-0.20261122185516-0123456789ab", vcs("false"), version{Version: "unreleased", Commit: hash}},
		{"a clone behind a tag, changed", "unreleased", "v1.2.4-0.20261122185516-0123456789ab+dirty", vcs("true"), version{Version: "unreleased", Commit: hash, Modified: true}},
		{"files without a repository", "unreleased", "(devel)", nil, version{Version: "unreleased"}},
		{"a release", "v1.2.3", "(devel)", nil, version{Version: "v1.2.3"}},
	} {
		v := version{Version: c.linker}
		if v.built(&debug.BuildInfo{Main: debug.Module{Version: c.module}, Settings: c.settings}); v != c.want {
			t.Errorf("%s: %+v, want %+v", c.about, v, c.want)
		}
	}
}
