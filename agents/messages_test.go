package agents

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A type that is not in the table is unknown to the network, to traces and to the
// checks of both ends.
func TestMessages_EveryTypeStandsInTheTableOnce(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var want, have []string
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			want = append(want, kindsOf(t, name)...)
		}
	}
	for _, p := range Messages() {
		have = append(have, p.Kind())
		if known, ok := Lookup(p.Kind()); !ok || !reflect.DeepEqual(known.Message, p.Message) {
			t.Errorf("%s is not found by its name", p.Kind())
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(want, have) {
		t.Errorf("the types are\n%v, the table has\n%v", want, have)
	}
}

// A message is named after its type, so a name in a trace leads to the type.
func TestMessages_ATypeHasTheNameOfItsMessage(t *testing.T) {
	t.Parallel()
	for _, p := range Messages() {
		if name := reflect.TypeOf(p.Message).Name(); name != p.Kind() {
			t.Errorf("type %s is called %s", name, p.Kind())
		}
	}
}

// kindsOf returns what the Kind methods of a file say.
func kindsOf(t *testing.T, name string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil || f.Name.Name != "Kind" || len(f.Recv.List[0].Names) > 0 {
			continue
		}
		said, ok := f.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit)
		if !ok {
			t.Fatalf("%s: a Kind method does not return a literal", name)
		}
		kind, _ := strconv.Unquote(said.Value)
		kinds = append(kinds, kind)
	}
	return kinds
}

// The receiver of a request answers it, the receiver of a notice acknowledges it, and
// nothing else is answered.
func TestMessages_AnAnswerGoesBackToWhoHasAsked(t *testing.T) {
	t.Parallel()
	answers := map[string]bool{Refused{}.Kind(): true, ReplicaRedirect{}.Kind(): true} // of every step, of every request to who does not lead
	seen := map[Class]int{}
	for _, p := range Messages() {
		seen[p.Class]++
		if p.From == p.To && p.From != Replica {
			t.Errorf("%s goes from %q to itself", p.Kind(), p.From)
		}
		asks := p.Class == Request || p.Class == Step || p.Class == Notice
		if asks != (p.Answer != nil) {
			t.Errorf("%s is of class %d, its answer is %v", p.Kind(), p.Class, p.Answer)
		}
		if _, of := p.Message.(OfLeg); p.Class == Step && (p.From != Broker || p.To != Site || !of) {
			t.Errorf("%s is no step that a broker asks of a site for a leg", p.Kind())
		}
		if !asks {
			continue
		}
		a, known := Lookup(p.Answer.Kind())
		if !known || !p.Answers(a.Kind()) || p.Answers(p.Kind()) || a.To != p.From || a.From != p.To && a.From != Any {
			t.Errorf("%s of a %s to a %s is not answered by %s", p.Kind(), p.From, p.To, p.Answer.Kind())
		}
		answers[p.Answer.Kind()] = true
	}
	for _, p := range Messages() {
		if p.Class == Reply && !answers[p.Kind()] {
			t.Errorf("%s answers nothing", p.Kind())
		}
	}
	for c := Request; c <= News; c++ {
		if seen[c] == 0 {
			t.Errorf("no message is of class %d", c)
		}
	}
}

// The methods of a message follow from its fields: one with a leg, a stamp,
// a decision, a broker or a job has the method that gives it.
func TestMessages_SayWhatTheirFieldsHold(t *testing.T) {
	t.Parallel()
	leg := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 3, Nonce: 5, Seq: 17}, Leg: 2}
	at := Stamp{Epoch: 7, Seq: 8, From: 6}
	for _, p := range Messages() {
		v := reflect.New(reflect.TypeOf(p.Message)).Elem()
		_, many := v.Type().FieldByName("Legs")
		has := func(name string, value any) bool {
			f := v.FieldByName(name)
			if !f.IsValid() || f.Type() != reflect.TypeOf(value) {
				return false
			}
			f.Set(reflect.ValueOf(value))
			return true
		}
		ofLeg := has("Leg", leg) || has("Leg", ListedLeg{Leg: leg})
		stamped, decided := has("Stamp", at), has("DecidedBy", uint32(4))
		named := has("Broker", "vo1")
		ofJob := !ofLeg && has("Job", "wave") || has("Job", grid.Job{Name: "wave"})
		m := v.Interface().(Message)
		if x, ok := m.(OfLeg); ok != ofLeg || ok && x.LegID() != leg {
			t.Errorf("%s has a leg: %t, and says %t", p.Kind(), ofLeg, ok)
		}
		if x, ok := m.(Stamped); ok != stamped || ok && (x.At() != at || p.From != Site) {
			t.Errorf("%s of a %s has a stamp: %t, and says %t", p.Kind(), p.From, stamped, ok)
		}
		if x, ok := m.(Decision); p.From == Broker && ok != decided || ok && x.Decider() != 4 {
			t.Errorf("%s carries a decision: %t, and says %t", p.Kind(), decided, ok)
		}
		if id, s, ok := SaidOfLeg(m); ok != (ofLeg && stamped && !many) || ok && (id != leg || s != at) {
			t.Errorf("%s is said of a leg: %t, %v, %v", p.Kind(), ok, id, s)
		}
		if name, ok := SpeakerOf(m); ok != (p.From == Broker && (ofLeg || named)) || ok && name != "vo1" {
			t.Errorf("%s of a %s names its broker: %t, and says %q", p.Kind(), p.From, ofLeg || named, name)
		}
		want := ""
		switch {
		case ofLeg:
			want = "vo1/3/17"
		case ofJob:
			want = "wave"
		}
		if got := Trace(m); got != want {
			t.Errorf("%s is about %q, want %q", p.Kind(), got, want)
		}
	}
}

// A stamp is embedded by its own name, so that a message prints in traces as if it
// were a field. A part that printed itself would print in place of the message.
func TestMessages_PrintTheirStampAsAField(t *testing.T) {
	t.Parallel()
	for _, p := range Messages() {
		f, ok := reflect.TypeOf(p.Message).FieldByName("Stamp")
		if !ok {
			continue
		}
		if _, stringer := p.Message.(interface{ String() string }); stringer || !f.Anonymous {
			t.Errorf("%s: embedded %t, a Stringer %t", p.Kind(), f.Anonymous, stringer)
		}
	}
}

func TestLookup_KnowsNoAlarms(t *testing.T) {
	t.Parallel()
	if p, ok := Lookup("NoticeDue"); ok {
		t.Errorf("an alarm is known as %v", p)
	}
	if p, ok := Lookup("Hold"); !ok || !p.Crosses() || p.Class != Step {
		t.Errorf("Hold is %v, %v", p, ok)
	}
	if p, _ := Lookup("ClusterHold"); p.Crosses() {
		t.Error("ClusterHold goes between processes")
	}
}
