package main

import (
	"bytes"
	"encoding/json"
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
