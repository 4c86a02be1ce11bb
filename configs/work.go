package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
)

// workKeys lists the keys about what a job runs.
func (j *Job) workKeys(w *grid.Work) keys.List {
	runs := &keys.Condition{Text: "with a command or a script", Holds: func(t *keys.Table) bool { return t.Has("command") || t.Has("script") || t.Has("part") }}
	return keys.List{
		keys.Custom("command", keys.About{Kind: "array of strings", Limits: fmt.Sprintf("at most %d bytes", grid.MaxScript)}, func(t *keys.Table, key string) { w.Command = arguments(t, key) },
			"what to run on each of its sites when its window begins: a program and its arguments. Simulated clusters run nothing"),
		keys.Custom("script", keys.About{Kind: "file", Limits: fmt.Sprintf("at most %d bytes", grid.MaxScript)}, func(t *keys.Table, key string) { w.Script = program(t, key) },
			"instead of a command: a file that begins with #!, which is read at submission and sent with the job"),
		keys.Entries("env", keys.About{Kind: "strings by name", Limits: fmt.Sprintf("at most %d", grid.MaxEnv)}, func(t *keys.Table, name string) {
			w.Env = append(w.Env, grid.EnvVar{Name: name, Value: raw(t, name)})
		}, "environment variables").When(runs),
		keys.Text("workdir", &w.Dir, "", "folder on the cluster in which it starts").ByDefault("where the cluster keeps its output").When(runs),
		keys.Text("output", &w.Output, "", "file for its output, in that folder or below; %j is the job, %l the leg").ByDefault("chosen by the cluster").When(runs),
		keys.Text("error", &w.Error, "", "file for its standard error, likewise").ByDefault("that of its output").When(runs),
		keys.Boolean("rendezvous", &w.Rendezvous, false, "use its first site as the place where its legs exchange their addresses").When(runs),
		keys.Rule(func(t *keys.Table) {
			if j.Runs = t.Has("command") || t.Has("script"); t.Has("part") {
				return // its parts run it, each with what it adds
			}
			if !j.Runs || t.In == kinds.InScenario && t.Has("script") { // a simulation reads no scripts
				return
			}
			for _, key := range []string{"command", "script", "env", "workdir", "output", "error", "rendezvous"} {
				if !t.Clean(key) {
					return
				}
			}
			if wrong := w.Check(); wrong != nil {
				t.Wrong(wrong.Key, "%v", wrong.Err)
				return
			}
			j.Work = w
		}),
	}
}

// arguments returns an array of strings with any characters: arguments of a program.
func arguments(t *keys.Table, key string) []string {
	v, ok := t.Take(key)
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		t.Wrong(key, `must be an array of strings, such as ["sh", "-c", "echo $BOURSE_LEG"], not %s`, keys.TypeOf(v))
		return nil
	}
	out := make([]string, len(list))
	for i, e := range list {
		s, ok := e.(string)
		if !ok {
			t.WrongAt(t.Path.Key(key).At(i), "must be a string, not %s", keys.TypeOf(e))
			return nil
		}
		out[i] = s
	}
	return out
}

// raw returns a string with any characters.
func raw(t *keys.Table, key string) string {
	v, _ := t.Take(key)
	s, ok := v.(string)
	if !ok {
		t.Wrong(key, "must be a string, not %s", keys.TypeOf(v))
	}
	return s
}

// program returns the text of a script file. A simulation does not open the file.
func program(t *keys.Table, key string) string {
	name := t.File(key, "")
	if name == "" || t.In == kinds.InScenario {
		return ""
	}
	text, err := readProgram(name)
	if err != nil {
		t.Wrong(key, "%v", err)
	} else if text == "" {
		t.Wrong(key, "%s is empty", name)
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

// tooLarge says that a script has more bytes than it may.
func tooLarge(bytes int) string {
	return fmt.Sprintf("has %d bytes; must have at most %d: make it call a longer program on the cluster", bytes, grid.MaxScript)
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
		return "", fmt.Errorf("%s %s", name, tooLarge(int(info.Size())))
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
	return fmt.Sprintf("broker %q: %s, the first is %q, have a command or a script, which a simulation does not run", b.Name, grid.Count(n, "job"), first)
}
