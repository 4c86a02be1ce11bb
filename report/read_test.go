package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

const someSummary = `{"scenario": "s", "seed": 1, "until": 100, "sites": [{"name": "a", "nodes": 4, "groups": [{"name": "m", "nodes": 4, "performance": 1, "price": 1}]}], "brokers": [{"name": "v"}]}`

func TestRead_ErrorsNameTheLineAndWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ events, want string }{
		{"{\n", "events: line 1: unexpected end of JSON input"},
		{`{"at":1,"agent":"x"}` + "\n", "events: line 1: must have at, agent and kind"},
		{`{"at":1,"agent":"x","kind":"new"}` + "\n[]\n", "events: line 2: json: cannot unmarshal array"},
		{`{"at":1,"agent":"cluster:a","kind":"job-started","job":1,"group":"q","nodes":1}`, `events: line 1: job-started: site a has no group "q"`},
		{`{"at":1,"agent":"cluster:a","kind":"job-started","job":1,"group":"m","nodes":-1}`, "line 1: job-started: -1 nodes"},
		{`{"at":1,"agent":"site:a","kind":"leg-moved","state":"dreaming"}`, "line 1: leg-moved:"},
		{`{"at":1,"agent":"broker:v","kind":"tx-begun","sites":["a"],"legs":[]}`, "line 1: tx-begun: 1 sites for 0 legs"},
		{`{"at":1,"agent":"cluster:a","kind":"job-started","job":1,"group":"m","nodes":1}`, "summary and events are of different runs"},
	} {
		_, err := read([]byte(someSummary), strings.NewReader(c.events), "summary", "events")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\nerror %v, want %q", c.events, err, c.want)
		}
	}
	for _, c := range []struct{ summary, want string }{
		{"", "summary: unexpected end"},
		{strings.Replace(someSummary, `"nodes": 4, "perf`, `"nodes": 0, "perf`, 1), `summary: sites: "a", group "m": 0 nodes`},
		{strings.Replace(someSummary, "100", "-1", 1), "summary: until"},
		{strings.Replace(someSummary, `{"name": "v"}`, `{"name": "v"}, {"name": "v"}`, 1), `brokers: there are two named "v"`},
	} {
		if _, err := read([]byte(c.summary), strings.NewReader(""), "summary", "events"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\nerror %v, want %q", c.summary, err, c.want)
		}
	}
}

// A folder that a build wrote which called abandoned jobs refused, and counted those
// given up with what they come after among the waiting, is read as one of this build.
func TestRead_TakesTheWordsOfOlderRuns(t *testing.T) {
	t.Parallel()
	events := `{"at":1,"agent":"broker:v","kind":"job-submitted","job":{"name":"a","nodes":1}}
{"at":1,"agent":"broker:v","kind":"job-submitted","job":{"name":"b","nodes":1}}
{"at":2,"agent":"broker:v","kind":"job-postponed","job":"a","reason":{"code":"expired"},"final":true}
{"at":2,"agent":"broker:v","kind":"job-cancelled","job":"b","reason":{"code":"after"}}
`
	c := NewCollector(Header{Scenario: "s", Seed: 1, Sites: []Site{{Name: "a", Groups: []grid.Group{{Site: "a", Name: "m", Nodes: 4, Performance: 1000, Price: grid.Price(grid.Credit)}}}},
		Brokers: []Broker{{Name: "v"}}}, Options{Keep: true})
	if err := c.feed(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	r, err := c.Finish(End{Until: 100 * grid.Time(grid.Second)})
	if err != nil {
		t.Fatal(err)
	}
	if j := r.Summary.Brokers[0].Jobs; j.Waiting != 0 || j.Abandoned != 2 || j.Withdrawn != 0 {
		t.Errorf("%+v", j)
	}
	var rows strings.Builder
	if err := r.WriteJobs(&rows); err != nil {
		t.Fatal(err)
	}
	if got := rows.String(); !strings.Contains(got, ",0,abandoned,expired,") || !strings.Contains(got, ",0,abandoned,after,") {
		t.Errorf("jobs.csv:\n%s", got)
	}
	var text strings.Builder
	if err := r.WriteSummary(&text); err != nil {
		t.Fatal(err)
	}
	sites, brokers, _ := strings.Cut(text.String(), `"brokers"`)
	for _, x := range [][2]string{{`"abandoned": 2`, `"refused": 1`}, {`"waiting": 0`, `"waiting": 1`}} {
		if !strings.Contains(brokers, x[0]) {
			t.Fatalf("no %s in %s", x[0], brokers)
		}
		brokers = strings.Replace(brokers, x[0], x[1], 1)
	}
	old := sites + `"brokers"` + brokers
	again, err := read([]byte(old), strings.NewReader(events), "summary", "events")
	if err != nil || again.Summary.Brokers[0].Jobs.Abandoned != 1 {
		t.Errorf("%v", err)
	}
}

// Whatever the events say, reading them and drawing what they say ends in a
// report or in an error.
func FuzzRead(f *testing.F) {
	f.Add(`{"at":1,"agent":"cluster:a","kind":"job-started","job":1,"group":"m","nodes":2,"submit":0,"end":9,"class":"immediate"}` + "\n" +
		`{"at":5,"agent":"cluster:a","kind":"job-ended","job":1,"group":"m","nodes":2,"submit":0,"start":1}`)
	f.Add(`{"at":1,"agent":"broker:v","kind":"job-submitted","job":{"name":"j","nodes":1,"submit":1,"deadline":null}}` + "\n" +
		`{"at":2,"agent":"broker:v","kind":"tx-begun","tx":{"broker":"v","seq":1},"job":"j","sites":["a"],"legs":[{"group":"m","nodes":1,"start":3,"end":9}],"limits":[1]}` + "\n" +
		`{"at":2,"agent":"broker:v","kind":"tx-decided","tx":{"broker":"v","seq":1},"job":"j","commit":true}` + "\n" +
		`{"at":2,"agent":"site:a","kind":"leg-moved","leg":{"tx":{"broker":"v","seq":1},"leg":0},"state":"confirmed","what":{"group":"m","nodes":1,"start":3,"end":9}}` + "\n" +
		`{"at":9,"agent":"broker:v","kind":"leg-done","leg":{"tx":{"broker":"v","seq":1},"leg":0},"end":9}`)
	h := Header{Sites: []Site{{Name: "a", Groups: []grid.Group{{Name: "m", Nodes: 4}}}}, Brokers: []Broker{{Name: "v", Budget: grid.Credit}}}
	f.Fuzz(func(t *testing.T, events string) {
		c := NewCollector(h, Options{Keep: true})
		if err := c.feed(strings.NewReader(events)); err != nil {
			return
		}
		r, err := c.Finish(End{Until: 100_000})
		if err != nil {
			t.Fatal(err)
		}
		_ = r.WriteGantt(io.Discard) // an error is fine: a node promised twice
		_ = r.WriteHTML(io.Discard)  // the same
		if err := r.WriteJobs(io.Discard); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteSummary(io.Discard); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.Summary.WriteTables(&b); err != nil {
			t.Fatal(err)
		}
	})
}

// A run read back has each fact that it has recorded: what is drawn of a folder is what was
// drawn of the run.
func TestReadEvents_ReadsEveryKindThatARunRecords(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	var want []string
	for _, f := range facts.Facts() {
		fmt.Fprintf(&text, `{"at":1,"agent":"elsewhere","kind":%q}`+"\n", f.Kind())
		if f.Kind() != "work-begun" && f.Kind() != "cluster-image" { // by clusters in real time alone
			want = append(want, f.Kind())
		}
	}
	var got []string
	err := ReadEvents(strings.NewReader(text.String()), func(_ grid.Time, _ agents.ID, f agents.Fact) error {
		got = append(got, f.Kind())
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("it reads %v, %v; want %v", got, err, want)
	}
}

// A deposit during a run is in the budget of its summary, and is not added again.
func TestRead_CountsPaymentsIntoTheBudgetOnce(t *testing.T) {
	t.Parallel()
	var events bytes.Buffer
	c := NewCollector(Header{Scenario: "s", Seed: 1, Sites: []Site{{Name: "a", Groups: []grid.Group{{Site: "a", Name: "m", Nodes: 4, Performance: 1000, Price: grid.Price(grid.Credit)}}}},
		Brokers: []Broker{{Name: "v", Budget: 100}}}, Options{Keep: true, Events: &events})
	c.Add(0, "broker:v", facts.BudgetOpened{Credits: 100})
	c.Add(1000, "broker:v", facts.BudgetOpened{Period: 1, Credits: 30})
	c.Add(2000, "broker:v", facts.Deposited{Key: "k", Credits: 4})
	r, err := c.Finish(End{Until: 100 * grid.Time(grid.Second)})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := r.WriteSummary(&text); err != nil {
		t.Fatal(err)
	}
	again, err := read(text.Bytes(), &events, "summary", "events")
	if err != nil {
		t.Fatal(err)
	}
	if was, is := r.Summary.Brokers[0].Budget, again.Summary.Brokers[0].Budget; was != 134 || is != was {
		t.Errorf("the budget is %v, read back %v; want 134 millionths", was, is)
	}
}
