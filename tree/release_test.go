package tree

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// go install takes a module at a version only if its go.mod changes nothing about
// other modules.
func TestModule_HasNothingThatGoInstallRefuses(t *testing.T) {
	t.Parallel()
	text := read(t, "go.mod")
	if !strings.HasPrefix(text, "module "+module+"\n") {
		t.Errorf("go.mod does not begin with module %s", module)
	}
	if m := regexp.MustCompile(`(?m)^\s*(replace|exclude)\b.*`).FindString(text); m != "" {
		t.Errorf("go.mod has %q", m)
	}
}

// A release is made seldom: a file that has moved since is missed here, and not then.
// The contents of .release are made for it.
func TestRelease_TheFilesItNamesAreThere(t *testing.T) {
	t.Parallel()
	found := regexp.MustCompile(`(?m)(?:\b(?:src|main|dockerfile|p(?:re|ost)(?:install|remove)): |^    - )([\w.][\w./*-]*)(?:[,}]|$)`).
		FindAllStringSubmatch(read(t, ".goreleaser.yaml"), -1)
	if len(found) < 20 {
		t.Fatalf("the release names only %q", found)
	}
	for _, m := range found {
		name := strings.ReplaceAll(m[1], "**", "*")
		if there, err := filepath.Glob(name); !strings.HasPrefix(name, ".release/") && len(there) == 0 {
			t.Errorf("the release names %s: %v", m[1], err)
		}
	}
}

// Each binary of a release has a bill of materials, made by a command of this tree, which
// goreleaser runs in its folder dist.
func TestRelease_BinariesHaveBills(t *testing.T) {
	t.Parallel()
	m := regexp.MustCompile(`(?m)^sboms:\n  - id: bourse\n    artifacts: binary\n(?:    .*\n)*    args: \[run, \.\./(cmd/\w+),`).FindStringSubmatch(read(t, ".goreleaser.yaml"))
	if m == nil {
		t.Fatal("the release makes no bills of its binaries")
	}
	read(t, m[1]+"/main.go")
}

// The services of a package find the files that their examples tell people to write,
// and may write where these say.
func TestRelease_ServicesFitTheirExamples(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"site", "broker"} {
		unit, example := read(t, "docs/examples/bourse-"+agent+".service"), read(t, "tools/packaging/"+agent+".toml")
		for _, want := range []string{"ExecStartPre=bourse check /etc/bourse/" + agent + ".toml\n", "ExecStart=bourse " + agent + " /etc/bourse/" + agent + ".toml\n",
			"\nUser=bourse\n", "\nReadWritePaths=/var/lib/bourse\n"} {
			if !strings.Contains(unit, want) {
				t.Errorf("bourse-%s.service does not have %q", agent, want)
			}
		}
		if !strings.Contains(example, "/etc/bourse/"+agent+".toml") || !strings.Contains(example, "\ndir = \"/var/lib/bourse/"+agent+"\"") {
			t.Errorf("tools/packaging/%s.toml is not for its service", agent)
		}
	}
	for _, script := range []string{"preinstall", "postinstall", "preremove", "postremove"} {
		if text := read(t, "tools/packaging/"+script+".sh"); regexp.MustCompile(`systemctl (enable|start|restart|reload-or|try-restart)`).MatchString(text) {
			t.Errorf("%s.sh starts a service", script)
		}
	}
}

// The services of a package are confined: systemd rates each of them below 4 of 10.
func TestRelease_ServicesAreConfined(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	for _, unit := range []string{"bourse-site", "bourse-site-slurm", "bourse-broker"} {
		out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--threshold=40", "--no-pager", "docs/examples/"+unit+".service").CombinedOutput()
		if err != nil {
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			t.Errorf("%s: %v: %s", unit, err, lines[len(lines)-1])
		}
	}
}

// A site beside Slurm has another service, because it runs as root: of the same file, with
// the rights only that it takes to submit work as its users.
func TestRelease_TheServiceBesideSlurmHasTheRightsItNeeds(t *testing.T) {
	t.Parallel()
	unit := read(t, "docs/examples/bourse-site-slurm.service")
	for _, want := range []string{"\nUser=root\n", "ExecStart=bourse site /etc/bourse/site.toml\n", "\nConflicts=bourse-site.service\n", "\nReadWritePaths=-/shared/bourse\n",
		"\nCapabilityBoundingSet=CAP_SETUID CAP_SETGID CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_KILL\n", "\nUMask=0022\n"} {
		if !strings.Contains(unit, want) {
			t.Errorf("bourse-site-slurm.service does not have %q", want)
		}
	}
	for _, doc := range []string{"docs/SLURM.md", "docs/OPERATING.md", ".goreleaser.yaml", "tools/packaging/preremove.sh"} {
		if !strings.Contains(read(t, doc), "bourse-site-slurm.service") {
			t.Errorf("%s does not name it", doc)
		}
	}
}

// The container of developers has the Go that the tools ask for.
func TestDevcontainer_HasTheGoOfTheTools(t *testing.T) {
	t.Parallel()
	m := regexp.MustCompile(`(?m)^go (.*)$`).FindStringSubmatch(read(t, "tools/go.mod"))
	if m == nil || !strings.Contains(read(t, ".devcontainer/Dockerfile"), "\nFROM golang:"+m[1]+"-") {
		t.Errorf("tools/go.mod asks for Go %q, .devcontainer/Dockerfile for another", m)
	}
}

// The linker sets variables that exist; it says nothing of others.
func TestRelease_WhatTheLinkerSetsExists(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"Makefile", ".goreleaser.yaml"} {
		set := regexp.MustCompile(`-X "?`+module+`/([a-z/]+)\.(\w+)=`).FindAllStringSubmatch(read(t, file), -1)
		if len(set) == 0 {
			t.Errorf("%s sets nothing", file)
		}
		for _, m := range set {
			if dir := m[1]; !regexp.MustCompile(`(?m)^\t?(var )?` + m[2] + ` += "`).MatchString(read(t, dir+"/"+path.Base(dir)+".go")) {
				t.Errorf("%s sets %s of %s, which has none", file, m[2], dir)
			}
		}
	}
}
