package report

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
)

// A head that is cut off a line is the one that decoding finds, whatever the agent's name;
// lines that nobody has written so are decoded.
func TestHeadOf_CutsWhatDecodingFinds(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	w := newEventWriter(&lines)
	for _, id := range []agents.ID{"site:north", "broker:vo \"1\"", "site:näh", "site:\\x", "site:a\tb", "site:\u2028", "site:\xff"} {
		w.write(1_234_567, id, facts.JobStarted{Job: 1})
		w.write(-5, id, facts.JobsForgotten{Jobs: []string{`","kind":"job-started`}})
	}
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSpace(lines.String()) + `
{"kind":"job-started","at":1,"agent":"a"}
{"at": 1,"agent":"a","kind":"job-started"}
{"at":1,"job":3,"agent":"a","kind":"job-started"}
{"at":1e3,"agent":"a","kind":"job-started"}
{"at":null,"agent":"a","kind":"job-started"}
{"at":1..5,"agent":"a","kind":"job-started"}
{"at":1,"agent":"a","kind":"job\u002dstarted"}
{"at":1,"agent":"a"}
{"at":1,"agent":"a","kind":"job-sta`
	cut := 0
	for _, line := range strings.Split(text, "\n") {
		var want eventHead
		wrong := json.Unmarshal([]byte(line), &want)
		got, err := headOf([]byte(line))
		if !reflect.DeepEqual(got, want) && wrong == nil || (err == nil) != (wrong == nil) {
			t.Errorf("%s: %+v, %v; decoding finds %+v, %v", line, got, err, want, wrong)
		}
		if _, _, _, ok := cutHead([]byte(line)); ok {
			cut++
		}
	}
	if cut < 4 {
		t.Errorf("%d lines were cut", cut)
	}
}

// A field of a fact with the name of one of the head would be taken for it.
func TestHeadOf_NoFactHasAFieldOfTheHead(t *testing.T) {
	t.Parallel()
	for kind, of := range types {
		for _, x := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(x.Tag.Get("json"), ",")
			if name = strings.ToLower(name); name == "at" || name == "agent" || name == "kind" {
				t.Errorf("%s has a field %s", kind, name)
			}
		}
	}
}
