package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/tree/thorough"
)

// pythonWith runs python3 beside the package in python, with this program as BOURSE and a drawn
// log as LOG.
func pythonWith(t *testing.T, jobs, procs string, args ...string) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here: ", err)
	}
	folder := t.TempDir()
	binary, log := filepath.Join(folder, "bourse"), filepath.Join(folder, "log.swf")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := exec.Command(binary, "generate", "--jobs", jobs, "--procs", procs, "--load", "0.9", "--seed", "1").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, append([]string{"-W", "error"}, args...)...)
	cmd.Dir = filepath.Join("..", "..", "python")
	cmd.Env = append(os.Environ(), "BOURSE="+binary, "LOG="+log, "PYTHONDONTWRITEBYTECODE=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	return out.String()
}

func TestPython_PackageAndExamples(t *testing.T) {
	t.Parallel()
	out := pythonWith(t, "600", "64", "-m", "unittest", "discover", "-s", "tests")
	if !regexp.MustCompile(`Ran [1-9][0-9] tests`).MatchString(out) || strings.Contains(out, "Warning") {
		t.Errorf("no tests ran, or something was left open:\n%s", out)
	}
}

// The order that the worked example learns waits less than FCFS on jobs that it has not seen,
// beyond the interval.
func TestPython_TheExampleLearns(t *testing.T) {
	t.Parallel()
	thorough.Only(t, "takes half a minute")
	out := pythonWith(t, "6000", "256", "-c", `import os, sys; sys.path.insert(0, "examples"); import learn; learn.main(os.environ["LOG"], 256)`)
	f := regexp.MustCompile(`difference -([0-9]+) ± ([0-9]+) s`).FindStringSubmatch(out)
	if f == nil {
		t.Fatal(out)
	}
	less, half := number(t, f[1]), number(t, f[2])
	if less <= half {
		t.Errorf("it waits %v ± %v s less", less, half)
	}
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
