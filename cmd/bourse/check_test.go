package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

func checkFile(t *testing.T, text string, flags ...string) (stdout string, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "f.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&bytes.Buffer{})
	root.SetArgs(append([]string{"check", file}, flags...))
	err = root.Execute()
	return strings.ReplaceAll(out.String(), file, "f.toml"), err
}

func TestCheck_SaysInOneLineWhatAFileIs(t *testing.T) {
	t.Parallel()
	preset := string(configs.Presets()[1].Text)
	traces := t.TempDir()
	scenario, err := configs.ParseScenario("three-traces", []byte(preset))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenario.Sites {
		if err := os.WriteFile(filepath.Join(traces, s.Workload.Trace), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := checkFile(t, preset, "--traces", traces)
	const want = `f.toml: scenario "three-traces": 3 sites, 3 groups, 658 nodes, 1 broker, 1000 jobs, 3 traces, until 30d` + "\n"
	if err != nil || out != want {
		t.Errorf("%v\n%q", err, out)
	}
	out, err = checkFile(t, preset, "--json", "--traces", traces)
	var figures struct {
		Kind, Name   string
		Nodes, Until int
	}
	if err == nil {
		err = json.Unmarshal([]byte(out), &figures)
	}
	if err != nil || figures.Kind != "scenario" || figures.Nodes != 658 || figures.Until != 30*86400 {
		t.Errorf("%v\n%s", err, out)
	}
}

// check refuses what simulate would refuse; a trace that many sites share is
// missed once.
func TestCheck_ATraceThatIsNotThereIsSaidOnce(t *testing.T) {
	t.Parallel()
	const site = "[[site]]\nname = \"%s\"\ngroup = [{ name = \"m\", nodes = 1, price = 1.0 }]\nworkload = { trace = \"none.swf\" }\n"
	_, err := checkFile(t, "until = \"1d\"\n"+fmt.Sprintf(site, "a")+fmt.Sprintf(site, "b")+fmt.Sprintf(site, "c"))
	if exitCode(err) != 2 || strings.Count(err.Error(), "none.swf") != 1 || !strings.Contains(err.Error(), `site "a" and 2 more`) {
		t.Errorf("exit %d: %v", exitCode(err), err)
	}
}

func TestCheck_BadInputIsExit2WithEveryProblem(t *testing.T) {
	t.Parallel()
	out, err := checkFile(t, "[[job]]\nname = \"a\"\nnodes = 0\nlength = -1\nbudget = 1\n")
	if exitCode(err) != 2 || out != "" {
		t.Errorf("exit %d, %q", exitCode(err), out)
	}
	for _, part := range []string{"f.toml:3: job.nodes: 0 is outside", "f.toml:4: job.length: "} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v\nlacks %q", err, part)
		}
	}
	if _, err := checkFile(t, "", "--jsn"); exitCode(err) != 2 {
		t.Errorf("a bad flag: exit %d", exitCode(err))
	}
}

// The lines of a script are checked as submit checks them; a length may come with the command.
func TestCheck_TheLinesOfAScript(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, out, problem string }{
		{"#!/bin/sh\n#BOURSE length = 1h\n#BOURSE nodes = 4\nhostname\n", "f.toml: script: 1 job\n", ""},
		{"#!/bin/sh\nhostname\n", "f.toml: script: 1 job\n", ""},
		{"#!/bin/sh\n#BOURSE nodes = 4\n#BOURSE lenght = 1h\n", "", "f.toml:3: "},
		{"#!/bin/sh\n#BOURSE nodes = 0\n", "", "f.toml:2: "},
		{"#!/bin/sh\n" + strings.Repeat("#", grid.MaxScript), "", "must have at most"},
	} {
		out, err := checkFile(t, c.text)
		if out != c.out || c.problem == "" && err != nil || c.problem != "" && (exitCode(err) != 2 || !strings.Contains(strings.ReplaceAll(err.Error(), "/f.toml", "f.toml"), c.problem)) {
			t.Errorf("%.60q: %q, %v", c.text, out, err)
		}
	}
}

// A batch file and the broker's API take the same names of jobs, one by one.
func TestCheck_RefusesTheNamesThatTheBrokerRefuses(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	found, err := client.Read(f.context)
	if err != nil {
		t.Fatal(err)
	}
	server, err := found.ToBroker()
	if err != nil {
		t.Fatal(err)
	}
	for name, right := range map[string]bool{
		"a": true, "night run #2": true, "größe": true, "a/b": true, "-": true, strings.Repeat("a", 100): true, strings.Repeat("ö", 50): true,
		"": false, " a": false, "a ": false, "a\u00a0b": false, "a\tb": false, "a\u202eb": false, strings.Repeat("a", 101): false, strings.Repeat("ö", 51): false,
	} {
		out, err := checkFile(t, fmt.Sprintf("[[job]]\nname = %q\nnodes = 1\nlength = 60\nbudget = 1\n", name))
		if (err == nil) != right {
			t.Errorf("check of %q: %v, %s", name, err, out)
		}
		_, err = server.Submit(t.Context(), api.Batch{ID: client.NewBatchID(), Jobs: []api.JobRequest{{
			Name: name, Nodes: 1, Length: api.Seconds{Duration: grid.Minute}, Budget: &api.Credits{Credits: grid.Credit}}}})
		if (err == nil) != right {
			t.Errorf("submit of %q: %v", name, err)
		}
	}
}

// A file that a start would refuse because the journal beside it is another's is refused by check
// too, a site's and a broker's; journals that cannot be looked at are a warning.
func TestCheck_TheFileOfAnotherAgent(t *testing.T) {
	t.Parallel()
	const rest = "[listen]\naddress = \"127.0.0.1:7400\"\n[gossip]\naddress = \"127.0.0.1:7401\"\nvo = \"vo1\"\n[tls]\nplain = true\n"
	for kept, text := range map[string]string{
		"site-east":  "name = \"north\"\n[[group]]\nname = \"main\"\nnodes = 4\nprice = 1.0\n" + rest,
		"broker-vo2": "[broker]\nname = \"vo1\"\nbudget = 5.0\ncycle = \"1h\"\nhorizon = \"1d\"\n" + rest,
	} {
		dir := t.TempDir()
		file, journal := filepath.Join(dir, "agent.toml"), filepath.Join(dir, "journal")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(journal, kept), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, _, err := runCommand(t.Context(), "check", file); exitCode(err) != 2 || !strings.Contains(err.Error(), "give it a journal.dir of its own") {
			t.Errorf("%s: %v", kept, err)
		}
		if err := os.RemoveAll(journal); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(journal, nil, 0o600); err != nil { // no folder
			t.Fatal(err)
		}
		if _, said, err := runCommand(t.Context(), "check", file); err != nil || !strings.Contains(said, "warning: the journals were not looked at") {
			t.Errorf("%s: %v, %s", kept, err, said)
		}
	}
}
