package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

func TestSummary_LocalJobsComputedByHand(t *testing.T) {
	t.Parallel()
	north := tell(t, report.Options{}).Summary.Sites[0]
	want := report.LocalSummary{Started: 4, Immediate: 2, Backfilled: 1, Reserved: 1, Ended: 3, Killed: 1, Running: 1,
		Waiting:    1, // the one submitted after the end is yet to come
		Refused:    1,
		RefusedFor: map[grid.Code]int{grid.TooLarge: 1},
		MeanWait:   280 * grid.Second, // (0 + 90 + 580 + 450) / 4
		// 100/100, 290/200, and 455/10 as the run of 5 s counts as 10 s
		BoundedSlowdown: 15.983333}
	if !reflect.DeepEqual(north.Local, want) {
		t.Errorf("local jobs are\n%+v, want\n%+v", north.Local, want)
	}
}

func TestSummary_UtilisationComputedByHand(t *testing.T) {
	t.Parallel()
	s := tell(t, report.Options{}).Summary
	north, south := s.Sites[0], s.Sites[1]
	// Local: 2x100 + 1x200 + 1x5 + 4x400 that still run; VO: 1x300; of 6x1000.
	if want := (report.Utilisation{All: 0.384167, Local: 0.334167, VO: 0.05}); north.Utilisation != want || north.Nodes != 6 {
		t.Errorf("north: %+v of %d nodes, want %+v of 6", north.Utilisation, north.Nodes, want)
	}
	if want := (report.Utilisation{All: 0.575, Local: 0.5, VO: 0.075}); north.Groups[0].Utilisation != want {
		t.Errorf("north/main: %+v, want %+v", north.Groups[0].Utilisation, want)
	}
	if want := (report.Utilisation{All: 0.0025, Local: 0.0025}); north.Groups[1].Utilisation != want {
		t.Errorf("north/fat: %+v, want %+v", north.Groups[1].Utilisation, want)
	}
	// wave 2x200 (it ended early), broken 2x50 (it was lost), solo 5x100 (it still runs).
	if want := (report.Utilisation{All: 0.1, VO: 0.1}); south.Utilisation != want {
		t.Errorf("south: %+v, want %+v", south.Utilisation, want)
	}
}

func TestSummary_LegThatNobodySettledUsesNoMoreThanItsTime(t *testing.T) {
	t.Parallel()
	header, recorded, end := theStory()
	c := report.NewCollector(header, report.Options{})
	for _, s := range recorded {
		if m, ok := s.fact.(facts.LegMoved); !ok || m.Leg != leg(1, 0) || m.State != grid.Settled {
			c.Add(s.at, s.id, s.fact)
		}
	}
	r, err := c.Finish(end)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Summary.Sites[0].Utilisation.VO; got != 0.05 { // 1 x 300 of 6 x 1000
		t.Errorf("VOs used %v of north, want 0.05", got)
	}
}

func TestSummary_LegsAndIncomeComputedByHand(t *testing.T) {
	t.Parallel()
	s := tell(t, report.Options{}).Summary
	north, south := s.Sites[0], s.Sites[1]
	if want := (report.Income{Base: cr(0.3), Additive: cr(0.03), Total: cr(0.33)}); north.Income != want {
		t.Errorf("income of north %+v, want %+v", north.Income, want)
	}
	if want := (report.Income{Base: cr(2.5), Total: cr(2.5)}); south.Income != want {
		t.Errorf("income of south %+v, want %+v", south.Income, want)
	}
	if south.Legs != 4 || south.LegsEnded != 1 || south.LegsBroken != 1 {
		t.Errorf("south carried %d legs, %d ended, %d broke; want 4, 1, 1", south.Legs, south.LegsEnded, south.LegsBroken)
	}
	if want := map[grid.Code]int{grid.Busy: 1}; !reflect.DeepEqual(south.RefusedLegs, want) {
		t.Errorf("south refused %v, want %v", south.RefusedLegs, want)
	}
}

func TestSummary_BrokerComputedByHand(t *testing.T) {
	t.Parallel()
	got := tell(t, report.Options{}).Summary.Brokers[0]
	want := report.BrokerSummary{Name: "vo1",
		Jobs: report.JobSummary{Submitted: 7, NotTaken: 1, Placed: 4, CoAllocated: 1, Done: 1, Waiting: 2, Abandoned: 1,
			Unplaced: map[grid.Code]int{grid.OverBudget: 1, grid.Expired: 1, grid.None: 1}},
		Postponements: map[grid.Code]int{grid.OverBudget: 2, grid.Expired: 1},
		Cost:          report.Income{Base: cr(2.8), Additive: cr(0.03), Total: cr(2.83)},
		Refunded:      cr(0.4),
		Spent:         cr(2.43),
		Budget:        cr(100), Left: cr(97.57),
		MeanWait:     517500 * grid.Millisecond, // (100 + 600 + 1150 + 220) / 4
		MeanTime:     225 * grid.Second,         // (300 + 300 + 100 + 200) / 4
		MeanFinish:   742500 * grid.Millisecond, // the sum of both, job by job
		Finish90:     1250 * grid.Second,
		CostNodeHour: 3124285,                                           // 2.43 credits for 2800 node-seconds
		Value:        report.ValueLost{Total: cr(2.43), Cost: cr(2.43)}, // budgets and urgencies are 0
		Regret:       cr(3.5),                                           // 3 in the first cycle, .5 in the third
		MeanResponse: 400 * grid.Second,                                 // wave alone is done: 500 - 100
		Transactions: report.TransactionSummary{Committed: 4, Aborted: 1, Aborts: map[grid.Code]int{grid.Busy: 1}, Open: 1},
		Cycles: report.CycleSummary{Run: 3, MeanTimeLimit: 750 * grid.Second, // the second cycle had nothing to select
			MeanBudgetLimit: cr(50), AlternativesPerJob: 2}, // the third had no limit
		Accounts: []grid.Account{{Name: "budget", Debit: cr(2.43)}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the VO is\n%+v, want\n%+v", got, want)
	}
}

func TestSummary_SameWithAndWithoutRows(t *testing.T) {
	t.Parallel()
	if a, b := tell(t, report.Options{}), tell(t, report.Options{Keep: true}); !reflect.DeepEqual(a.Summary, b.Summary) {
		t.Errorf("summaries differ:\n%+v\n%+v", a.Summary, b.Summary)
	}
	w := month()
	if a, b := w.report(t, report.Options{}), w.report(t, report.Options{Keep: true}); !reflect.DeepEqual(a.Summary, b.Summary) {
		t.Errorf("summaries differ:\n%+v\n%+v", a.Summary, b.Summary)
	}
}

func TestSummary_MoneyIsExactInJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := tell(t, report.Options{}).WriteSummary(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"until": 1000`, `"left": 97.57,`, `"total": 2.83`, `"meanWait": 517.5`, `"price": 3.6`, `"refusedLegs": {}`, `"accounts": []`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("summary.json lacks %s:\n%s", want, b.String())
		}
	}
	var back report.Summary
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || !reflect.DeepEqual(back, tell(t, report.Options{}).Summary) {
		t.Errorf("summary.json does not read back: %v", err)
	}
}

// jobsOfTheStory is jobs.csv of the story, line by line as it must be.
const jobsOfTheStory = `broker,site,job,kind,submit,start,end,nodes,cost,status,reason,group,class,became
,north,1,local,0,0,100,2,0,ended,,main,immediate,
,north,2,local,10,100,300,1,0,killed,,main,backfilled,
,north,3,local,20,600,,4,0,running,,main,reserved,
,north,4,local,30,,,99,0,refused,too-large,,,
,north,5,local,50,500,505,1,0,ended,,fat,immediate,
,north,6,local,700,,,3,0,waiting,,main,,
vo1,north,wave,vo,100,200,500,1,0.33,ended,,main,,kept
vo1,south,wave,vo,100,200,400,2,0.5,ended,,main,,kept
vo1,south,solo,vo,300,900,,5,1.5,running,,main,,kept
vo1,south,late,vo,350,1500,,1,0.1,confirmed,,main,,kept
vo1,,poor,vo,360,,,4,0,waiting,over-budget,,,
vo1,,doomed,vo,370,,,7,0,abandoned,expired,,,
vo1,south,broken,vo,380,600,650,2,0,lost,busy,main,,lost
vo1,,fresh,vo,990,,,1,0,waiting,,,,
`

func TestJobs_OneRowPerLegOfTheLastTransaction(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := tell(t, report.Options{Keep: true}).WriteJobs(&b); err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(b.String(), "\n"), strings.Split(jobsOfTheStory, "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("line %d of\n%s\nshould be as in\n%s", i+1, b.String(), jobsOfTheStory)
		}
	}
}

// Where a job asks for less than whole nodes, rows say what it asks for of each and what its leg
// takes, behind all other columns.
func TestJobs_SayWhatIsTakenOfEachNode(t *testing.T) {
	t.Parallel()
	header, recorded, end := theStory()
	c := report.NewCollector(header, report.Options{Keep: true})
	for _, s := range recorded {
		c.Add(s.at, s.id, s.fact)
	}
	submit := func(name string, r grid.Request) {
		r.Nodes, r.Length, r.MinPerformance, r.Deadline = 1, grid.Hour, grid.Unit, grid.Never
		c.Add(at(991), "broker:vo1", facts.JobSubmitted{Job: grid.Job{Name: name, Submit: at(991), Request: r}})
	}
	submit("two", grid.Request{Portion: grid.Portion{GPUs: 2, Memory: 1 << 30}})
	submit("asks", grid.Request{Portion: grid.Portion{Cores: 3}})
	part := on("main", 1, 997, 999)
	part.Part = grid.LegPart{Slices: 2, Of: 8, GPUs: 2, Memory: 1 << 30}
	c.Add(at(995), "broker:vo1", facts.TxBegun{Tx: tx(7), Job: "two", Sites: []string{"south"}, Legs: []grid.Leg{part}, Limits: []grid.Credits{cr(1)}})
	c.Add(at(995), "broker:vo1", facts.TxDecided{Tx: tx(7), Job: "two", Commit: true})
	r, err := c.Finish(end)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteJobs(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"class,became,gpus,cores,memory,slices,of\n", "\nvo1,north,wave,vo,100,200,500,1,0.33,ended,,main,,kept,,,,,\n",
		",north,1,local,0,0,100,2,0,ended,,main,immediate,,,,,,\n", "\nvo1,south,two,vo,991,997,,1,0,confirmed,,main,,kept,2,,1073741824,2,8\n", "\nvo1,,asks,vo,991,,,1,0,waiting,,,,,,3,,,\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestJobs_LegGivenUpBeforeItRanHasNoTimes(t *testing.T) {
	t.Parallel()
	header, recorded, end := theStory()
	c := report.NewCollector(header, report.Options{Keep: true})
	for _, s := range recorded {
		c.Add(s.at, s.id, s.fact)
	}
	c.Add(at(999), "site:south", facts.LegMoved{Leg: leg(4, 0), State: grid.Released})
	r, err := c.Finish(end)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteJobs(&b); err != nil {
		t.Fatal(err)
	}
	if want := "\nvo1,south,late,vo,350,,,1,0.1,released,,main,,given-up\n"; !strings.Contains(b.String(), want) {
		t.Errorf("no line %q in\n%s", want, b.String())
	}
}

func TestJobs_CommittedLegThatItsSiteHasNotIsLost(t *testing.T) {
	t.Parallel()
	header, recorded, end := theStory()
	c := report.NewCollector(header, report.Options{Keep: true})
	for _, s := range recorded {
		c.Add(s.at, s.id, s.fact)
	}
	begun := facts.TxBegun{Tx: tx(7), Job: "fresh", Sites: []string{"south"}, Legs: []grid.Leg{on("main", 1, 997, 999)}, Limits: []grid.Credits{cr(1)}}
	c.Add(at(995), "broker:vo1", begun)
	c.Add(at(995), "broker:vo1", facts.TxDecided{Tx: tx(7), Job: "fresh", Commit: true})
	c.Add(at(996), "broker:vo1", facts.LegClosed{Leg: leg(7, 0)})
	r, err := c.Finish(end)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteJobs(&b); err != nil {
		t.Fatal(err)
	}
	if want := "\nvo1,south,fresh,vo,990,,,1,0,lost,,main,,lost\n"; !strings.Contains(b.String(), want) {
		t.Errorf("no line %q in\n%s", want, b.String())
	}
}

func TestFinding_SaysWhatTheNumbersCarry(t *testing.T) {
	t.Parallel()
	got := tell(t, report.Options{}).Summary.Finding
	want := "vo1 placed 4 of 7 jobs (1 across sites), 77 % of their node-hours on south, at 1.1 % above base price for delaying local jobs; " +
		"sites paid back 0.40 credits; 3 jobs found no place, 1 of them because the deadline could not be met."
	if got != want {
		t.Errorf("finding\n%s, want\n%s", got, want)
	}
}

func TestTurnedAway_SaysWhoRefusedWhatAndWhy(t *testing.T) {
	t.Parallel()
	s := &report.Summary{Sites: []report.SiteSummary{
		{Name: "full", Local: report.LocalSummary{Refused: 7, RefusedFor: map[grid.Code]int{grid.QueueFull: 6, grid.TooLarge: 1}}},
		{Name: "quiet"},
		{Name: "small", Local: report.LocalSummary{Refused: 1, RefusedFor: map[grid.Code]int{grid.TooLarge: 1}}},
	}, Brokers: []report.BrokerSummary{{Name: "vo1", Jobs: report.JobSummary{NotTaken: 2}}, {Name: "vo2"}}}
	want := []string{
		"site full refused 7 local jobs, 6 of them because too many jobs were waiting",
		"site small refused 1 local job because more nodes were asked for than there are",
		"broker vo1 did not accept 2 jobs",
	}
	if got := s.TurnedAway(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFinding_WithoutVO(t *testing.T) {
	t.Parallel()
	header, recorded, end := theStory()
	header.Brokers = nil
	c := report.NewCollector(header, report.Options{})
	for _, s := range recorded {
		if strings.HasPrefix(string(s.id), "cluster:") {
			c.Add(s.at, s.id, s.fact)
		}
	}
	r, err := c.Finish(end)
	if err != nil {
		t.Fatal(err)
	}
	want := "No VO took part: 4 local jobs kept the nodes busy for 13 % of the time and waited longest on north, 5 min on average."
	if r.Summary.Finding != want {
		t.Errorf("finding\n%s, want\n%s", r.Summary.Finding, want)
	}
}

func TestFinding_NothingRan(t *testing.T) {
	t.Parallel()
	r, err := report.NewCollector(report.Header{}, report.Options{}).Finish(report.End{})
	if err != nil || r.Summary.Finding != "Nothing ran." {
		t.Errorf("%q, %v", r.Summary.Finding, err)
	}
}

func TestTables_FitHundredColumns(t *testing.T) {
	t.Parallel()
	r := tell(t, report.Options{})
	site, vo := &r.Summary.Sites[0], &r.Summary.Brokers[0]
	site.Name, vo.Name = "a site with a name that fits no table", "a broker with a name that fits no table"
	site.Nodes, site.Utilisation, site.Legs = 99_999, report.Utilisation{All: 1, Local: 1, VO: 1}, 99_999
	site.Local = report.LocalSummary{Started: 1_000_000, Waiting: 99_999, MeanWait: 400 * grid.Day, BoundedSlowdown: 99_999}
	site.Income.Total, vo.Left, vo.Cost.Total = cr(99_999_999), cr(99_999_999), cr(99_999_999)
	vo.Jobs = report.JobSummary{Submitted: 99_999, Placed: 99_999, CoAllocated: 99_999, Waiting: 99_999}
	vo.MeanTime, vo.MeanFinish = 400*grid.Day, 400*grid.Day
	var b bytes.Buffer
	if err := r.Summary.WriteTables(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
		if strings.HasSuffix(line, " \n") {
			t.Errorf("trailing space: %q", line)
		}
	}
}

func TestCollector_UnknownAgentsAreOnlyTold(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	c := report.NewCollector(report.Header{}, report.Options{Events: &b})
	var out agents.Outbox
	out.Record(facts.JobSubmitted{Job: grid.Job{Name: "x"}})
	out.Record(facts.NodesFreed{})
	c.Hook(at(1.5), "user:\"ana\"", &out)
	if _, err := c.Finish(report.End{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "\n"); got != 2 || !strings.HasPrefix(b.String(), `{"at":1.5,"agent":"user:\"ana\"","kind":"job-submitted",`) {
		t.Errorf("events are %s", b.String())
	}
}

// failing is a disk that is full.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestCollector_EventsThatCannotBeWrittenAreAnError(t *testing.T) {
	t.Parallel()
	header, recorded, end := theStory()
	c := report.NewCollector(header, report.Options{Events: failing{}})
	for _, s := range recorded {
		c.Add(s.at, s.id, s.fact)
	}
	if _, err := c.Finish(end); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("error is %v", err)
	}
}

func TestReport_SameFactsSameBytes(t *testing.T) {
	t.Parallel()
	s1, j1, e1, g1 := written(t, month())
	s2, j2, e2, g2 := written(t, month())
	if s1 != s2 || j1 != j2 || e1 != e2 || g1 != g2 {
		t.Error("two reports of the same facts differ")
	}
}
