package configs

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
)

// One job can be said without a file: by flags of the command line, or by lines
// "#BOURSE key = value" of a script. Both take their names from the keys of [[job]].

// JobKey is a key of a [[job]] table that fits on one line. A key of the tables require and
// speedup stands for itself: gpus, not require.gpus.
type JobKey struct {
	keys.Reference
	Table string // "require", "speedup"; "": the job itself
	Many  bool   // it takes a list, and may be given again for more
}

// Flag is its name on the command line.
func (k *JobKey) Flag() string { return strings.ReplaceAll(k.Name, "_", "-") }

// env is the only table with names of the user's own that fits on lines: NAME=VALUE.
const env = "env"

// JobKeys lists them, in the order of the table. What a job runs is not among them: it is the
// script itself, or the rest of the command line. A gather table needs a file.
func JobKeys() []JobKey { return jobKeys("", new(Job).keys(0, map[string]int{})) }

func jobKeys(table string, list keys.List) []JobKey {
	var out []JobKey
	for k := range list.Of(kinds.InBatch) {
		if k.Name == "command" || k.Name == "script" || k.Name == "gather" { // whose keys have names of their own meaning
			continue
		}
		a := k.About()
		switch {
		case a.Kind == "table":
			out = append(out, jobKeys(k.Name, a.Below())...)
		case a.Named && k.Name != env, a.Below != nil: // tables of the user's own
		default:
			out = append(out, JobKey{Reference: k.Describe(), Table: table, Many: a.Named || a.Kind == listKind})
		}
	}
	return out
}

// listKind is the kind of keys with an array of strings.
const listKind = "array of strings"

// Setting is one key with its value, and where it was given.
type Setting struct {
	Key   string // as it was written, with - or _
	Value string // in TOML, or as one writes it on a command line: 2h, a,b, NAME=VALUE
	Line  int    // of a script, from 1; 0: it is a flag
}

// Directive opens a line of a script with a key of its job.
const Directive = "#BOURSE"

// Directives returns the settings of a script, in the order of its lines. An error names file
// and line.
func Directives(file string, text []byte) ([]Setting, error) {
	var list []Setting
	var wrong []*Problem
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		rest, is := strings.CutPrefix(strings.TrimSpace(line), Directive)
		if !is || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			continue
		}
		key, value, two := strings.Cut(rest, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !two || key == "" || value == "" {
			wrong = append(wrong, &Problem{File: file, Line: n, Text: fmt.Sprintf("%q: must be %s key = value, such as %s nodes = 4", strings.TrimSpace(line), Directive, Directive)})
			continue
		}
		list = append(list, Setting{Key: key, Value: value, Line: n})
	}
	return list, keys.Join(wrong)
}

// ErrNoLength says that a job has no length, which only its user can know.
var ErrNoLength = errors.New("length: missing")

// ParseJob reads the job of a script or of a command line. Settings come later in the list if
// they win over earlier ones: a flag over the script's line. The job is named after name, runs
// on one node and runs what work says, where no setting says otherwise. It returns ErrNoLength,
// or *Problems with the file and line, or the flag, of each.
func ParseJob(file, name string, settings []Setting, work *grid.Work) (*Job, error) {
	l := &lines{file: file, known: JobKeys(), at: map[string]int{}}
	for i := range settings {
		l.set(&settings[i])
	}
	for _, d := range [][2]string{{"name", quote(name)}, {"nodes", "1"}} {
		if _, given := l.at[d[0]]; !given {
			l.add(d[0], d[1], nil)
		}
	}
	l.add("command", `["true"]`, nil) // stands for work, which may be text that no file can hold
	if len(l.wrong) > 0 {
		return nil, keys.Join(l.wrong)
	}
	if _, given := l.at["length"]; !given {
		return nil, ErrNoLength
	}
	b, err := parseBatch(file, l.text(), false, 0, around{})
	var bad *Problems
	if errors.As(err, &bad) {
		return nil, l.place(bad)
	}
	if err != nil {
		return nil, err
	}
	j := &b.Jobs[0]
	j.Work.Command, j.Work.Script = work.Command, work.Script
	if wrong := j.Work.Check(); wrong != nil {
		return nil, keys.Join([]*Problem{{File: file, Key: wrong.Key, Text: wrong.Err.Error()}})
	}
	return j, nil
}

// lines makes a [[job]] table of settings, one on each line.
type lines struct {
	file  string
	known []JobKey
	keys  []string       // of each line, with dots
	value []string       // of each line, in TOML
	from  []*Setting     // of each line; nil: a default
	at    map[string]int // the line of each key
	wrong []*Problem
}

// add adds a line, or replaces that of the same key.
func (l *lines) add(key, value string, from *Setting) {
	if i, there := l.at[key]; there {
		l.value[i], l.from[i] = value, from
		return
	}
	l.at[key] = len(l.keys)
	l.keys, l.value, l.from = append(l.keys, key), append(l.value, value), append(l.from, from)
}

// set adds a setting.
func (l *lines) set(s *Setting) {
	name := strings.ReplaceAll(s.Key, "-", "_")
	for i := range l.known {
		k := &l.known[i]
		whole := k.Name
		if k.Table != "" {
			whole = k.Table + "." + k.Name
		}
		switch {
		case name != k.Name && name != whole:
		case k.Name == env:
			l.variables(s)
			return
		default:
			value := tomlOf(k.Kind, s.Value)
			if before, there := l.at[whole]; there && k.Many && (l.from[before].Line > 0) == (s.Line > 0) {
				value = joined(l.value[before], value)
			}
			l.add(whole, value, s)
			return
		}
	}
	text := "unknown key"
	if near := keys.Nearest(name, l.names()); near != "" {
		text += "; did you mean " + near + "?"
	} else if name == "command" || name == "script" {
		text = "is the script itself; leave it out"
	} else {
		text += "; must be one of " + strings.Join(l.names(), ", ")
	}
	l.wrong = append(l.wrong, l.problem(s, text))
}

// variables adds environment variables: NAME=VALUE, or a table in TOML.
func (l *lines) variables(s *Setting) {
	var table struct{ V map[string]any }
	if _, err := toml.Decode("V = "+s.Value, &table); err == nil && !strings.Contains(s.Value, "\n") {
		l.add(env, s.Value, s)
		return
	}
	name, value, two := strings.Cut(s.Value, "=")
	if name = strings.TrimSpace(name); !two || name == "" {
		l.wrong = append(l.wrong, l.problem(s, fmt.Sprintf("%q: must be NAME=VALUE", s.Value)))
		return
	}
	l.add(env+"."+quote(name), quote(strings.TrimSpace(value)), s)
}

func (l *lines) names() []string {
	out := make([]string, len(l.known))
	for i := range l.known {
		out[i] = l.known[i].Name
	}
	return out
}

// text is the table as a file has it.
func (l *lines) text() []byte {
	var b strings.Builder
	b.WriteString("[[job]]\n")
	for i := range l.keys {
		b.WriteString(l.keys[i] + " = " + l.value[i] + "\n")
	}
	return []byte(b.String())
}

// place says of the problems of that text where they really are.
func (l *lines) place(bad *Problems) error {
	out := &Problems{More: bad.More}
	for _, p := range bad.List {
		var from *Setting
		if i := p.Line - 2; i >= 0 && i < len(l.from) {
			from = l.from[i]
		}
		key := strings.TrimPrefix(p.Key, "job.")
		if from == nil {
			out.List = append(out.List, &Problem{File: l.file, Key: key, Text: p.Text})
			continue
		}
		one := l.problem(from, p.Text)
		if from.Line > 0 {
			one.Key = key
		}
		out.List = append(out.List, one)
	}
	slices.SortStableFunc(out.List, func(a, b *Problem) int { return a.Line - b.Line })
	return out
}

// problem is one with a setting: at its line, or with its flag.
func (l *lines) problem(s *Setting, text string) *Problem {
	if s.Line == 0 {
		return &Problem{File: "--" + strings.ReplaceAll(s.Key, "_", "-"), Text: text}
	}
	return &Problem{File: l.file, Line: s.Line, Key: s.Key, Text: text}
}

// tomlOf writes a value of a kind in TOML. What is TOML already stays as it is; otherwise
// numbers and truths stand bare, lists are parted by commas, and all else is a string.
func tomlOf(kind, word string) string {
	switch kind {
	case "string", "name", "word", indicesKind: // whatever it looks like
		if w := tomlString(word); w != "" {
			return w
		}
		return quote(word)
	}
	var v struct{ V any }
	if _, err := toml.Decode("V = "+word, &v); err == nil && !strings.Contains(word, "\n") {
		if _, one := v.V.(string); !one || kind != listKind {
			return word
		}
		return "[" + word + "]"
	}
	word, _, _ = strings.Cut(word, " #")
	word = strings.TrimSpace(word)
	if n, err := strconv.ParseFloat(word, 64); err == nil && kind != listKind {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	if kind != listKind {
		return quote(word)
	}
	var list []string
	for one := range strings.SplitSeq(word, ",") {
		list = append(list, quote(strings.TrimSpace(one)))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// tomlString is the word if it is a string of TOML, "" if it is not.
func tomlString(word string) string {
	var v struct{ V string }
	if _, err := toml.Decode("V = "+word, &v); err != nil || strings.Contains(word, "\n") {
		return ""
	}
	return word
}

// quote writes a string in TOML.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"', r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// joined makes one list of two.
func joined(a, b string) string {
	return strings.TrimSuffix(a, "]") + ", " + strings.TrimPrefix(b, "[")
}

// NameOf is what a job is called that was given none: the name of its program or script,
// without folders and ending; "job" if that is no name.
func NameOf(program string) string {
	name := filepath.Base(program)
	if short := strings.TrimSuffix(name, filepath.Ext(name)); short != "" {
		name = short
	}
	if grid.CheckName(name) != nil || name == "." || name == string(filepath.Separator) {
		return "job"
	}
	return name
}
