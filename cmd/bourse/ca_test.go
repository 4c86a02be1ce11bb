package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents/certificate"
)

// ca runs bourse ca on a folder.
func ca(t *testing.T, dir string, args ...string) (stdout string, err error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&bytes.Buffer{})
	args = append([]string{"ca"}, args...)
	if dir != "" {
		args = append(args, "--dir", dir)
	}
	root.SetArgs(args)
	err = root.Execute()
	return out.String(), err
}

func TestCA_MakesWhatAProcessLoads(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ca")
	out, err := ca(t, dir, "init", "--vo", "atlas")
	if err != nil || !strings.Contains(out, "Authority of VO atlas in "+dir+", until ") {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err = ca(t, dir, "issue", "--role", "site", "--name", "north", "--host", "10.0.0.5,north.example", "--days", "30", "--json")
	var issued struct{ Identity, Serial, Expires, Certificate, Key string }
	if err == nil {
		err = json.Unmarshal([]byte(out), &issued)
	}
	if err != nil || issued.Identity != "bourse://atlas/site/north" || issued.Certificate != filepath.Join(dir, "site-north.pem") {
		t.Fatalf("%v\n%s", err, out)
	}
	s, err := certificate.Load(certificate.In(dir, certificate.Site, "north"), certificate.Options{})
	if err != nil || s.Identity().String() != issued.Identity {
		t.Errorf("%v", err)
	}
	if keys, err := certificate.GossipKeys(filepath.Join(dir, "gossip.key")); err != nil || len(keys) != 1 {
		t.Errorf("%d keys, %v", len(keys), err)
	}
	if out, err = ca(t, dir, "revoke", "--role", "site", "--name", "north"); err != nil || !strings.Contains(out, issued.Serial) {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err = ca(t, dir, "list"); err != nil || !strings.Contains(out, "north") || !strings.Contains(out, "revoked") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, line := range strings.Split(out, "\n") {
		if len(line) > 100 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	for step, want := range map[string]string{"add": "has 2"} {
		if out, err = ca(t, dir, "key", step); err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%s", step, err, out)
		}
	}
}

func TestCA_RefusesWith1AndBadInputWith2(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ca")
	if _, err := ca(t, dir, "issue", "--role", "site", "--name", "n", "--host", "h"); exitCode(err) != 2 || !strings.Contains(err.Error(), "bourse ca init --vo NAME") {
		t.Errorf("no authority yet: exit %d, %v", exitCode(err), err)
	}
	if _, err := ca(t, dir, "init", "--vo", "atlas"); err != nil {
		t.Fatal(err)
	}
	if _, err := ca(t, dir, "issue", "--role", "user", "--name", "ana"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		exit int
		want string
	}{
		{"init --vo atlas", 1, "nothing is overwritten unless --replace"},
		{"init --vo a/b --replace", 2, "the name of a VO is"},
		{"init --vo cms --replace", 2, "use another folder"},
		{"init --vo atlas --replace --years 0", 2, "1 to 50"},
		{"init", 2, "vo"},
		{"issue --role user --name ana", 1, "nothing is overwritten unless --replace"},
		{"issue --role user --name ana --host h", 2, "leave --host out"},
		{"issue --role site --name n", 2, "--host"},
		{"issue --role site --name n --host 10.0.0.5:80", 2, "without a port"},
		{"issue --role root --name n", 2, "no role"},
		{"issue --role user --name n --days 0", 2, "--days 0"},
		{"issue --role user --name n --days 9999", 2, "the authority itself has"},
		{"issue --role user", 2, "name"},
		{"revoke --role user --name nobody", 1, "no valid certificate left to revoke"},
		{"key use", 2, "add another first"},
		{"key throw", 2, "add, use and drop"},
		{"key", 2, "add, use or drop"},
	} {
		out, err := ca(t, dir, strings.Fields(c.args)...)
		if exitCode(err) != c.exit || err == nil || !strings.Contains(err.Error(), c.want) || out != "" {
			t.Errorf("ca %s: exit %d, %v, %q; want %d with %q", c.args, exitCode(err), err, out, c.exit, c.want)
		}
	}
	if _, err := ca(t, dir, "issue", "--role", "user", "--name", "ana", "--replace"); err != nil {
		t.Errorf("--replace: %v", err)
	}
	for args, want := range map[string]string{"": "ca needs init, issue, list, revoke or key", "steal": "must be init, issue, list, revoke or key"} {
		if _, err := ca(t, "", strings.Fields(args)...); exitCode(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("ca %s: exit %d, %v", args, exitCode(err), err)
		}
	}
	if os.Getuid() == 0 {
		return // who may do anything is refused nothing
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if _, err := ca(t, dir, "issue", "--role", "user", "--name", "bo"); exitCode(err) != 1 {
		t.Errorf("a folder that cannot be written: exit %d, %v", exitCode(err), err)
	}
}
