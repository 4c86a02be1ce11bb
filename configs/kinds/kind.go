package kinds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/bourse-grid/bourse/configs/keys"
)

// Kind is what a file describes.
type Kind string

// The kinds of TOML files, known by their tables.
const (
	Scenario      Kind = "scenario"       // [[site]]
	SiteProcess   Kind = "site process"   // [[group]] and [listen]
	BrokerProcess Kind = "broker process" // [broker] and [listen]
	Site          Kind = "site"           // [[group]]
	Broker        Kind = "broker"         // [broker] or [[broker]]
	Batch         Kind = "batch"          // [[job]]
	Sweep         Kind = "sweep"          // [[parameter]]
)

// The kinds of other files, known by how they begin.
const (
	Problem Kind = "problem"
	Look    Kind = "look"
	Context Kind = "context"
	Run     Kind = "run"
	Trace   Kind = "trace"
	Script  Kind = "script"
	Journal Kind = "journal"
	PEM     Kind = "PEM"
	JSON    Kind = "JSON"
	Packed  Kind = "packed"
	Binary  Kind = "binary"
	Unknown Kind = ""
)

// kinds lists what files are, how they are known, and which command takes them. The first
// whose tables a TOML file has is its kind.
var kinds = []struct {
	Kind   Kind
	Is     string   // with an article
	By     string   // how it is known
	For    string   // who takes it
	Tables []string // that a TOML file of the kind has, nil for other files
}{
	{Sweep, "a sweep", "[[parameter]]", "bourse sweep", []string{"parameter"}},
	{Scenario, "a scenario", "[[site]]", "bourse simulate", []string{"site"}},
	{BrokerProcess, "the file of a broker's process", "[listen] and [broker]", "bourse broker", []string{"listen", "broker"}},
	{SiteProcess, "the file of a site's process", "[listen] and [[group]]", "bourse site", []string{"listen"}},
	{SiteProcess, "the file of a site's process", "[[vo]] and [[group]]", "bourse site", []string{"vo"}},
	{Site, "the snapshot of a site", "[[group]]", "bourse quote", []string{"group"}},
	{Broker, "a broker", "[broker]", "bourse check", []string{"broker"}},
	{Batch, "a batch of jobs", "[[job]]", "bourse submit", []string{"job"}},
	{Problem, "a problem", `JSON with "slots" and "jobs"`, "bourse search and bourse plan", nil},
	{Look, "a saved snapshot of a cluster", `JSON with "at", "nodes" and "jobs"`, "bourse forecast and bourse quote", nil},
	{Context, "a context file", `JSON with "broker"`, "--context", nil},
	{Run, "a file of a run's folder", `JSON with "scenario" or "sites"`, "bourse report, with the folder", nil},
	{Trace, "a log of jobs", "records, a line each", "bourse replay and bourse convert", nil},
	{Script, "a script", "#! in its first line", "bourse submit, or the key script of a job in a batch", nil},
	{Journal, "a journal", `"bourse journal" in its first line`, "bourse journal show and verify", nil},
	{PEM, "a certificate or a key", "PEM", "the keys of [tls]", nil},
	{JSON, "JSON", "its brackets", "", nil},
	{Packed, "a packed file", "its first bytes", "bourse replay and bourse convert, if it is a log of jobs", nil},
	{Binary, "binary data", "bytes of 0", "", nil},
}

// words says what a kind is, for people, and how it is known.
func (k Kind) words() string {
	for _, one := range kinds {
		if one.Kind == k {
			return fmt.Sprintf("%s (%s)", one.Is, one.By)
		}
	}
	return "a file of no kind that is known"
}

// For says which command takes a kind of file, "" if none does.
func (k Kind) For() string {
	for _, one := range kinds {
		if one.Kind == k {
			return one.For
		}
	}
	return ""
}

// Wrong is what is said of a file of one kind where another must be.
func Wrong(is, want Kind) string {
	said := "this is " + is.words()
	if to := is.For(); to != "" {
		said += ", for " + to
	}
	return said + "; must be " + want.words() + ", for " + want.For()
}

// kindOf is the kind of a TOML file with these tables.
func kindOf(has func(string) bool) Kind {
	for _, one := range kinds {
		if one.Tables != nil && !slices.ContainsFunc(one.Tables, func(name string) bool { return !has(name) }) {
			return one.Kind
		}
	}
	return Unknown
}

// OfTable is the kind of the file that a root table is of.
func OfTable(t *keys.Table) Kind {
	return kindOf(func(name string) bool { _, ok := t.Keys[name]; return ok })
}

// Must refuses a file of another kind, in one problem. Kinds that lack a table of the wanted
// one, and may be meant to be it, pass: what lacks is then said with its key.
func Must(t *keys.Table, want Kind, near ...Kind) error {
	is := OfTable(t)
	if is == want || is == Unknown || slices.Contains(near, is) {
		return nil
	}
	return keys.Join([]*keys.Problem{{File: t.FileName(), Text: Wrong(is, want)}})
}

// The first lines of traces: of SWF and GWF, and of tables.
var (
	traceHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(;|#\s*JobID\b|\s*-?\d+(\s+-?[\d.]+){10,})`) })
	tableHead = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^"?[\w ]+"?([|,;\t]"?[\w ]+"?)*[|,;\t]"?(submit|submit_time|submission_time|JobID)"?([|,;\t]|\s|$)|^"?(submit|submit_time|JobID(Raw)?)"?[|,;\t]`)
	})
)

// Of says what a text is, Unknown if it is nothing that is known. The beginning of a
// long text is enough where it is no TOML and no JSON.
func Of(text []byte) Kind {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	begin := bytes.TrimLeft(text, " \t\r\n")
	is := func(magic string) bool { return bytes.HasPrefix(begin, []byte(magic)) }
	switch {
	case is("\x1f\x8b"), is("BZh"), is("\x28\xb5\x2f\xfd"), is("\xfd7zXZ"), is("PK\x03\x04"), is("7z\xbc\xaf"):
		return Packed
	case is("PAR1"), is("/PBS"):
		return Trace
	case is("#!"):
		return Script
	case is("bourse journal"):
		return Journal
	case is("-----BEGIN "):
		return PEM
	case is("{"):
		return kindOfJSON(text)
	case bytes.IndexByte(text, 0) >= 0:
		return Binary
	case traceHead().Match(begin), tableHead().Match(begin):
		return Trace
	}
	keys := map[string]any{}
	if _, err := toml.Decode(string(text), &keys); err == nil && len(keys) > 0 {
		return kindOf(func(name string) bool { _, ok := keys[name]; return ok })
	}
	return Unknown
}

// kindOfJSON says what a JSON object is by its keys.
func kindOfJSON(text []byte) Kind {
	var keys map[string]json.RawMessage
	if json.Unmarshal(text, &keys) != nil {
		return JSON
	}
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { _, ok := keys[name]; return !ok })
	}
	switch {
	case has("slots", "jobs"):
		return Problem
	case has("at", "nodes"):
		return Look
	case has("broker", "ca"), has("broker", "sites"), has("sites", "ca"), len(keys) == 1 && has("broker"):
		return Context
	case has("format", "scenario"), has("sites", "brokers"):
		return Run
	}
	return JSON
}

// notTOML says what a text is that is no TOML, "" if that is not known.
func notTOML(text []byte) string {
	k := Of(text)
	if k == Unknown {
		return ""
	}
	said := "not TOML: this is " + k.words()
	if to := k.For(); to != "" {
		said += ", for " + to
	}
	return said
}

// Words says what a kind of file is, without how it is known.
func (k Kind) Words() string {
	w, _, _ := strings.Cut(k.words(), " (")
	return w
}
