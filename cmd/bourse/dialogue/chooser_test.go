package dialogue

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/grid"
)

// asked is a cycle with two jobs, the first of which has two windows.
func asked() *planning.Question {
	window := func(start grid.Time, cost grid.Credits) planning.Asking {
		end := start.Add(grid.Hour)
		return planning.Asking{Start: start, End: end, Time: grid.Hour, Cost: cost, Legs: []planning.AskingLeg{
			{Site: "north", Leg: grid.Leg{Group: "main", Nodes: 4, Start: start, End: end}, Cost: cost}}}
	}
	job := func(name string, deadline grid.Time) *planning.Job {
		return &planning.Job{Name: name, User: "ana", Submit: 500, Request: grid.Request{Nodes: 4, Length: grid.Hour, Budget: 50_000_000, Deadline: deadline}}
	}
	return &planning.Question{Cycle: 4, Now: 7_200_000, Budget: 60_000_000, Jobs: []planning.Asked{
		{Job: job("wave", grid.Never), Left: grid.MaxCredits, Windows: []planning.Asking{window(7_200_000, 40_000_000), window(9_000_500, 20_000_000)}},
		{Job: job("tide", 90_000_000), Left: 45_000_000, Windows: []planning.Asking{window(7_200_000, 30_000_000)}},
	}}
}

func chosen(t *testing.T, patience time.Duration, answers ...string) (choice []int, heard string, err error) {
	t.Helper()
	command, file := script(t, answers...)
	c, err := StartChooser([]string{"/bin/sh", "-c", command}, t.TempDir(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	c.peer.patience = patience
	for range answers {
		if choice, err = c.Choose(asked()); err != nil {
			break
		}
	}
	if err == nil {
		c.Close()
	} else {
		c.Kill()
	}
	for name := range runningIn(t, c.peer.program.Process.Pid) {
		t.Errorf("%s of the program still runs", name)
	}
	text, bad := os.ReadFile(file)
	if bad != nil {
		t.Fatal(bad)
	}
	return choice, string(text), err
}

func TestChooser_SaysWhatIsDocumented(t *testing.T) {
	t.Parallel()
	choice, heard, err := chosen(t, Patience, say(`{"choose":{"tide":1}}`), say(`{"choose":{"wave":2}}`))
	const window = `{"start":7200,"end":10800,"time":3600,"cost":40,"parts":[{"node":"north/main","nodes":4,"start":7200,"end":10800,"cost":40}]}`
	want := `{"cycle":4,"now":7200,"budget":60,"jobs":[{"name":"wave","user":"ana","submit":0.5,"priority":0,"nodes":4,"length":3600,"budget":50,"deadline":null,"alternatives":[` + window + ","
	if err != nil || choice[0] != 1 || choice[1] != -1 || !strings.HasPrefix(heard, want) || !strings.Contains(heard, `"deadline":90000,`) || strings.Count(heard, "\n") != 2 {
		t.Errorf("%v, %v\nsaid %s\nwant %s", choice, err, heard, want)
	}
}

// Each thing that a program may do wrong ends the run with the job and what would be right, and
// nothing of it is left.
func TestChooser_EndsWithAWrongProgram(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ answer, want string }{
		"over the budget":        {say(`{"choose":{"wave":1,"tide":1}}`), `alternative 1 of job "tide" makes the sum 70 credits, the budget is 60; leave jobs out, or take cheaper windows`},
		"over a quota":           {say(`{"choose":{"wave":2,"tide":1}}`), `alternative 1 of job "tide" makes the sum of user "ana" 50 credits, who has 45 left`},
		"a window beyond":        {say(`{"choose":{"wave":3}}`), `alternative 3 of job "wave"; must be 1 to 2, or the job left out`},
		"window 0":               {say(`{"choose":{"wave":0}}`), `alternative 0 of job "wave"`},
		"a job that is unknown":  {say(`{"choose":{"wave":2,"zeal":1,"yarn":1}}`), `job "yarn", which has no window in this cycle; name only jobs of the request`},
		"a window as text":       {say(`{"choose":{"wave":"1"}}`), `an answer is like {"choose":{"wave":1}}`},
		"the scheduler's answer": {say(`{"start":[7]}`), `unknown field "start"`},
		"a list":                 {say(`[{}]`), "the answer"},
		"dies":                   {"exit 3", "the program has ended (exit status 3)"},
		"sleeps":                 {"sleep 600", "no answer within 2s; print a line and flush it"},
		"talks unasked":          {"printf '{}\\n{}\\n'; read -r line", "it said something without being asked"},
		"floods":                 {"exec cat /dev/zero", "its line is longer than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patience, answers := Patience, []string{x.answer}
			if name == "sleeps" {
				patience = 2 * time.Second
			}
			if name == "talks unasked" {
				answers = append(answers, say("{}"))
			}
			if _, _, err := chosen(t, patience, answers...); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v, want %s", err, x.want)
			}
		})
	}
}

func TestStartChooser_NamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	if _, err := StartChooser([]string{"/no/such/program"}, "", t.Output()); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Error(err)
	}
}
