package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/tree/thorough"
)

// The notebook of the examples runs from its first cell to its last on the folder of a
// sweep, and draws three figures. It is kept without outputs.
func TestNotebook_DrawsASweep(t *testing.T) {
	t.Parallel()
	const notebook = "../../docs/examples/sweep.ipynb"
	if figures := figuresOf(t, notebook); figures != 0 {
		t.Errorf("%s is kept with its outputs; strip them: jupyter nbconvert --clear-output --inplace", notebook)
	}
	python := ""
	for _, p := range []string{"python3", "/usr/bin/python3"} { // Debian's, where another comes first
		if exec.Command(p, "-c", "import pandas, matplotlib, nbconvert, ipykernel").Run() == nil {
			python = p
			break
		}
	}
	thorough.Only(t, "draws figures in a notebook")
	if python == "" {
		t.Skip("needs python3 with pandas, matplotlib, nbconvert and ipykernel: apt-get install python3-pandas python3-matplotlib jupyter-nbconvert python3-ipykernel")
	}
	dir := t.TempDir()
	sweep := "preset = \"default\"\nruns = 2\n[[parameter]]\nkey = \"broker.budget\"\nvalues = [10000.0, 20000.0, 30000.0]\n"
	if err := os.WriteFile(filepath.Join(dir, "budgets.toml"), []byte(sweep), 0o600); err != nil {
		t.Fatal(err)
	}
	runBourse(t, "sweep", filepath.Join(dir, "budgets.toml"), "--out", filepath.Join(dir, "budgets"))
	out := filepath.Join(dir, "run.ipynb")
	cmd := exec.CommandContext(t.Context(), python, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", out, notebook)
	cmd.Env = append(os.Environ(), "BOURSE_SWEEP="+filepath.Join(dir, "budgets"), "JUPYTER_RUNTIME_DIR="+dir)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if n := figuresOf(t, out); n != 3 {
		t.Errorf("there are %d figures, want 3", n)
	}
}

// figuresOf counts the pictures among the outputs of a notebook.
func figuresOf(t *testing.T, file string) (n int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var book struct {
		Cells []struct {
			Outputs []struct {
				Data map[string]any
			}
		}
	}
	if err := json.Unmarshal(text, &book); err != nil || len(book.Cells) == 0 {
		t.Fatalf("%s: %v", file, err)
	}
	for _, c := range book.Cells {
		for _, o := range c.Outputs {
			for kind := range o.Data {
				if strings.HasPrefix(kind, "image/") {
					n++
				}
			}
		}
	}
	return n
}
