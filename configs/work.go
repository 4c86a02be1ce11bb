package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// workKeys lists the keys about what a job runs.
func (j *Job) workKeys(w *grid.Work) keys {
	runs := &condition{text: "with a command or a script", holds: func(t *table) bool { return t.has("command") || t.has("script") || t.has("part") }}
	return keys{
		custom("command", about{kind: "array of strings", limits: fmt.Sprintf("at most %d bytes", grid.MaxScript)}, func(t *table, key string) { w.Command = t.words(key) },
			"what to run on each of its sites when its window begins: a program and its arguments. Simulated clusters run nothing"),
		custom("script", about{kind: "file", limits: fmt.Sprintf("at most %d bytes", grid.MaxScript)}, func(t *table, key string) { w.Script = program(t, key) },
			"instead of a command: a file that begins with #!, which is read at submission and sent with the job"),
		entries("env", about{kind: "strings by name", limits: fmt.Sprintf("at most %d", grid.MaxEnv)}, func(t *table, name string) {
			w.Env = append(w.Env, grid.EnvVar{Name: name, Value: t.raw(name)})
		}, "environment variables").when(runs),
		text("workdir", &w.Dir, "", "folder on the cluster in which it starts").byDefault("where the cluster keeps its output").when(runs),
		text("output", &w.Output, "", "file for its output, in that folder or below; %j is the job, %l the leg").byDefault("chosen by the cluster").when(runs),
		text("error", &w.Error, "", "file for its standard error, likewise").byDefault("that of its output").when(runs),
		boolean("rendezvous", &w.Rendezvous, false, "use its first site as the place where its legs exchange their addresses").when(runs),
		rule(func(t *table) {
			if j.Runs = t.has("command") || t.has("script"); t.has("part") {
				return // its parts run it, each with what it adds
			}
			if !j.Runs || t.in == inScenario && t.has("script") { // a simulation reads no scripts
				return
			}
			for _, key := range []string{"command", "script", "env", "workdir", "output", "error", "rendezvous"} {
				if !t.clean(key) {
					return
				}
			}
			if wrong := w.Check(); wrong != nil {
				t.wrong(wrong.Key, "%v", wrong.Err)
				return
			}
			j.Work = w
		}),
	}
}

// program returns the text of a script file. A simulation does not open the file.
func program(t *table, key string) string {
	name := t.file(key, "")
	if name == "" || t.in == inScenario {
		return ""
	}
	text, err := readProgram(name)
	if err != nil {
		t.wrong(key, "%v", err)
	} else if text == "" {
		t.wrong(key, "%s is empty", name)
	}
	return text
}

// ReadScript reads a script that is a job of its own. The error names the file.
func ReadScript(file string) ([]byte, error) {
	text, err := readProgram(file)
	if err != nil && !strings.Contains(err.Error(), file) {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return []byte(text), err
}

// readProgram reads a script file.
func readProgram(name string) (string, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no file %s", name)
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", name)
	case info.Size() > grid.MaxScript:
		return "", fmt.Errorf("%s has %d bytes; must have at most %d: make it call a longer program on the cluster", name, info.Size(), grid.MaxScript)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, grid.MaxScript+1))
	return string(text), err
}

// Ignored says in one line that a simulation does not run the work of a broker's jobs; ""
// if no job has any.
func (b *Broker) Ignored() string {
	n, first := 0, ""
	for i := range b.Jobs {
		if b.Jobs[i].Runs {
			if n++; n == 1 {
				first = b.Jobs[i].Name
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("broker %q: job %q has a command or a script, which a simulation does not run", b.Name, first)
	}
	return fmt.Sprintf("broker %q: %d jobs, the first is %q, have a command or a script, which a simulation does not run", b.Name, n, first)
}
