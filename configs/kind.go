package configs

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
	KindScenario      Kind = "scenario"       // [[site]]
	KindSiteProcess   Kind = "site process"   // [[group]] and [listen]
	KindBrokerProcess Kind = "broker process" // [broker] and [listen]
	KindSite          Kind = "site"           // [[group]]
	KindBroker        Kind = "broker"         // [broker] or [[broker]]
	KindBatch         Kind = "batch"          // [[job]]
	KindSweep         Kind = "sweep"          // [[parameter]]
)

// The kinds of other files, known by how they begin.
const (
	KindProblem Kind = "problem"
	KindLook    Kind = "look"
	KindContext Kind = "context"
	KindRun     Kind = "run"
	KindTrace   Kind = "trace"
	KindScript  Kind = "script"
	KindJournal Kind = "journal"
	KindPEM     Kind = "PEM"
	KindJSON    Kind = "JSON"
	KindPacked  Kind = "packed"
	KindBinary  Kind = "binary"
	KindUnknown Kind = ""
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
	{KindSweep, "a sweep", "[[parameter]]", "bourse sweep", []string{"parameter"}},
	{KindScenario, "a scenario", "[[site]]", "bourse simulate", []string{"site"}},
	{KindBrokerProcess, "the file of a broker's process", "[listen] and [broker]", "bourse broker", []string{"listen", "broker"}},
	{KindSiteProcess, "the file of a site's process", "[listen] and [[group]]", "bourse site", []string{"listen"}},
	{KindSiteProcess, "the file of a site's process", "[[vo]] and [[group]]", "bourse site", []string{"vo"}},
	{KindSite, "the snapshot of a site", "[[group]]", "bourse quote", []string{"group"}},
	{KindBroker, "a broker", "[broker]", "bourse check", []string{"broker"}},
	{KindBatch, "a batch of jobs", "[[job]]", "bourse submit", []string{"job"}},
	{KindProblem, "a problem", `JSON with "slots" and "jobs"`, "bourse search and bourse plan", nil},
	{KindLook, "a saved snapshot of a cluster", `JSON with "at", "nodes" and "jobs"`, "bourse forecast and bourse quote", nil},
	{KindContext, "a context file", `JSON with "broker"`, "--context", nil},
	{KindRun, "a file of a run's folder", `JSON with "scenario" or "sites"`, "bourse report, with the folder", nil},
	{KindTrace, "a log of jobs", "records, a line each", "bourse replay and bourse convert", nil},
	{KindScript, "a script", "#! in its first line", "bourse submit, or the key script of a job in a batch", nil},
	{KindJournal, "a journal", `"bourse journal" in its first line`, "bourse journal show and verify", nil},
	{KindPEM, "a certificate or a key", "PEM", "the keys of [tls]", nil},
	{KindJSON, "JSON", "its brackets", "", nil},
	{KindPacked, "a packed file", "its first bytes", "bourse replay and bourse convert, if it is a log of jobs", nil},
	{KindBinary, "binary data", "bytes of 0", "", nil},
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

// WrongKind is what is said of a file of one kind where another must be.
func WrongKind(is, want Kind) string {
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
	return KindUnknown
}

// kind is the kind of the file that a root table is of.
func tableKind(t *keys.Table) Kind {
	return kindOf(func(name string) bool { _, ok := t.Keys[name]; return ok })
}

// must refuses a file of another kind, in one problem. Kinds that lack a table of the wanted
// one, and may be meant to be it, pass: what lacks is then said with its key.
func mustBe(t *keys.Table, want Kind, near ...Kind) error {
	is := tableKind(t)
	if is == want || is == KindUnknown || slices.Contains(near, is) {
		return nil
	}
	return keys.Join([]*Problem{{File: t.FileName(), Text: WrongKind(is, want)}})
}

// The first lines of traces: of SWF and GWF, and of tables.
var (
	traceHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(;|#\s*JobID\b|\s*-?\d+(\s+-?[\d.]+){10,})`) })
	tableHead = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^"?[\w ]+"?([|,;\t]"?[\w ]+"?)*[|,;\t]"?(submit|submit_time|submission_time|JobID)"?([|,;\t]|\s|$)|^"?(submit|submit_time|JobID(Raw)?)"?[|,;\t]`)
	})
)

// KindOf says what a text is, KindUnknown if it is nothing that is known. The beginning of a
// long text is enough where it is no TOML and no JSON.
func KindOf(text []byte) Kind {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	begin := bytes.TrimLeft(text, " \t\r\n")
	is := func(magic string) bool { return bytes.HasPrefix(begin, []byte(magic)) }
	switch {
	case is("\x1f\x8b"), is("BZh"), is("\x28\xb5\x2f\xfd"), is("\xfd7zXZ"), is("PK\x03\x04"), is("7z\xbc\xaf"):
		return KindPacked
	case is("PAR1"), is("/PBS"):
		return KindTrace
	case is("#!"):
		return KindScript
	case is("bourse journal"):
		return KindJournal
	case is("-----BEGIN "):
		return KindPEM
	case is("{"):
		return kindOfJSON(text)
	case bytes.IndexByte(text, 0) >= 0:
		return KindBinary
	case traceHead().Match(begin), tableHead().Match(begin):
		return KindTrace
	}
	keys := map[string]any{}
	if _, err := toml.Decode(string(text), &keys); err == nil && len(keys) > 0 {
		return kindOf(func(name string) bool { _, ok := keys[name]; return ok })
	}
	return KindUnknown
}

// kindOfJSON says what a JSON object is by its keys.
func kindOfJSON(text []byte) Kind {
	var keys map[string]json.RawMessage
	if json.Unmarshal(text, &keys) != nil {
		return KindJSON
	}
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { _, ok := keys[name]; return !ok })
	}
	switch {
	case has("slots", "jobs"):
		return KindProblem
	case has("at", "nodes"):
		return KindLook
	case has("broker", "ca"), has("broker", "sites"), has("sites", "ca"), len(keys) == 1 && has("broker"):
		return KindContext
	case has("format", "scenario"), has("sites", "brokers"):
		return KindRun
	}
	return KindJSON
}

// notTOML says what a text is that is no TOML, "" if that is not known.
func notTOML(text []byte) string {
	k := KindOf(text)
	if k == KindUnknown {
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
