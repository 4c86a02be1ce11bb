package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/tree/thorough"
)

const modulePath = "github.com/bourse-grid/bourse"

// go install gets the module from a proxy, as a zip of the files that a version has,
// and takes none whose go.mod changes what other modules are. The proxy of this
// test is a folder; other modules come out of the cache of this machine.
func TestInstall_GoInstallTakesTheModuleAndItsVersion(t *testing.T) {
	t.Parallel()
	thorough.Only(t, "compiles everything once more")
	const release = "v0.987.6"
	proxy, cache, bin := t.TempDir(), t.TempDir(), t.TempDir()
	publish(t, proxy, release)
	have, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	here, beyond, _ := strings.Cut(strings.TrimSpace(string(have)), "\n")

	install := exec.Command("go", "install", modulePath+"/cmd/bourse@"+release)
	install.Dir = bin // no module is here
	install.Env = append(os.Environ(), "GOPROXY=file://"+proxy+",file://"+here+"/cache/download,"+beyond,
		"GOMODCACHE="+cache, "GOBIN="+bin, "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-mod=mod -modcacherw -trimpath")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v\n%s", err, out)
	}
	line, err := exec.Command(filepath.Join(bin, "bourse"), "version").Output()
	if err != nil || !strings.HasPrefix(string(line), "bourse "+release+" (") {
		t.Errorf("bourse version says %q, %v", line, err)
	}
}

// publish makes a proxy of a folder, with this module at one version: the files that
// git has or would take, but for those of modules of their own.
func publish(t *testing.T, proxy, version string) {
	t.Helper()
	const root = "../.."
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("not a clone: which files belong to the module, git says")
	}
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := strings.Split(strings.TrimSuffix(string(names), "\x00"), "\x00")
	var other []string // modules
	for _, name := range files {
		if dir, file := path.Split(name); file == "go.mod" && dir != "" {
			other = append(other, dir)
		}
	}
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
next:
	for _, name := range files {
		for _, dir := range other {
			if strings.HasPrefix(name, dir) {
				continue next
			}
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not yet committed
		} else if err != nil {
			t.Fatal(err)
		}
		f, err := w.Create(modulePath + "@" + version + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(proxy, modulePath, "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".mod": mod, version + ".zip": packed.Bytes(),
		version + ".info": fmt.Appendf(nil, `{"Version": %q, "Time": "2026-01-01T00:00:00Z"}`, version),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
