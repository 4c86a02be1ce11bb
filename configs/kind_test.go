package configs

import (
	"errors"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A list of words in a message has all that the key takes: those of a site, and the fewer of
// a snapshot.
func TestPolicy_AMessageListsWhatTheKeyTakes(t *testing.T) {
	t.Parallel()
	for text, key := range map[string]string{
		"name = \"x\"\nuntil = \"1d\"\n[[site]]\nname = \"a\"\npolicy = \"foo\"\n[[site.group]]\nname = \"main\"\nnodes = 4\nprice = 1.0\n": "site.policy",
		"name = \"x\"\nnow = 0\npolicy = \"foo\"\n[[group]]\nname = \"main\"\nnodes = 4\nprice = 1.0\n":                                     "policy",
	} {
		_, err := check("f.toml", []byte(text), func(*Broker, grid.Duration, []string) error { return nil })
		words := Words(key)
		if err == nil || len(words) == 0 || !strings.Contains(err.Error(), "must be one of "+strings.Join(words, ", ")) {
			t.Errorf("%s: %v, want all of %q", key, err, words)
		}
		for _, w := range words {
			w = strings.Replace(w, "=K", "=2", 1)
			if _, err := check("f.toml", []byte(strings.Replace(text, "foo", w, 1)), func(*Broker, grid.Duration, []string) error { return nil }); err != nil && strings.Contains(err.Error(), "is unknown; must be one of") {
				t.Errorf("%s lists %q and refuses it: %v", key, w, err)
			}
		}
	}
}

// Jobs that no window of the horizon can be long enough for are valid, and a warning.
func TestCheck_WarnsOfJobsLongerThanTheHorizon(t *testing.T) {
	t.Parallel()
	const scenario = `name = "x"
until = "5d"
[[site]]
name = "a"
[[site.group]]
name = "fast"
nodes = 4
performance = 2.0
price = 1.0
[[site.group]]
name = "slow"
nodes = 4
price = 1.0
[[broker]]
name = "v"
budget = 100.0
cycle = "10m"
horizon = "1d"
algorithm = "amp"
[[broker.job]]
name = "long"
nodes = 4
length = "LENGTH"
max_price = 5.0
user = "u"
`
	for text, want := range map[string]string{
		strings.Replace(scenario, "LENGTH", "2d", 1):                                                               "",
		strings.Replace(scenario, "LENGTH", "49h", 1):                                                              `job "long" of broker "v" takes 1470m at the least, the horizon allows 1d`,
		strings.Replace(strings.Replace(scenario, "LENGTH", "2d", 1), "nodes = 4\nlength", "nodes = 5\nlength", 1): `takes 2d at the least`,
	} {
		got, err := check("f.toml", []byte(text), func(*Broker, grid.Duration, []string) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(got.Warnings, "\n"); want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
	}
}

// A file of another kind is one problem; one that lacks a table is told which.
func TestMust_AFileOfAnotherKindIsOneProblem(t *testing.T) {
	t.Parallel()
	for text, read := range map[string]func(string, []byte) error{
		"[[job]]\nname = \"a\"\n":             func(f string, b []byte) error { _, err := ParseScenario(f, b); return err },
		"[[site]]\nname = \"a\"\n":            func(f string, b []byte) error { _, err := ParseBatch(f, b); return err },
		"[listen]\n[[group]]\nname = \"a\"\n": func(f string, b []byte) error { _, err := ParseSite(f, b); return err },
		"[listen]\n[broker]\nname = \"a\"\n":  func(f string, b []byte) error { _, err := ParseSiteProcess(f, b); return err },
		"[listen]\n[[group]]\nname = \"b\"\n": func(f string, b []byte) error { _, err := ParseBrokerProcess(f, b); return err },
		"{\"slots\": [], \"jobs\": []}":       func(f string, b []byte) error { _, err := ParseScenario(f, b); return err },
		"; MaxProcs: 4\n1 2 3\n":              func(f string, b []byte) error { _, err := ParseScenario(f, b); return err },
		"#!/bin/sh\necho hi\n":                func(f string, b []byte) error { _, err := ParseBatch(f, b); return err },
	} {
		err := read("f.toml", []byte(text))
		var all *Problems
		if !errors.As(err, &all) || len(all.List) != 1 || !strings.Contains(err.Error(), "this is ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ParseSiteProcess("f.toml", []byte("name = \"a\"\n[[group]]\nname = \"b\"\n")); err == nil || strings.Contains(err.Error(), "this is ") {
		t.Errorf("a site without [listen] lacks that: %v", err)
	}
}
