package grid_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// daily is a job that could recur every day.
func daily() grid.Job {
	return grid.Job{Name: "nightly", Work: &grid.Work{Command: []string{"./report"}}, Request: grid.Request{Nodes: 2, Length: 2 * grid.Hour, MinPerformance: grid.Unit,
		MaxPrice: grid.Price(grid.Credit), Budget: 4 * grid.Credit, Ready: grid.Time(grid.Hour), Deadline: grid.Never}}
}

// Each window is ready that much after the one before it, and ends before the next may begin.
func TestRecur_EachWindowIsReadyAfterTheOneBefore(t *testing.T) {
	t.Parallel()
	j := daily()
	j.Recur(grid.Recurrence{Every: grid.Day, Count: 10})
	text, err := json.Marshal(j.Array)
	if err != nil || string(text) != `"0-9@86400"` || j.Array.String() != "0-9" {
		t.Errorf("the array is written %s, %v", text, err)
	}
	var again grid.Array
	if err := json.Unmarshal(text, &again); err != nil || !again.Same(j.Array) {
		t.Errorf("it is read as %+v, %v", again, err)
	}
	e := j.Element(3)
	if day := grid.Time(3 * grid.Day); e.Ready != day+grid.Time(grid.Hour) || e.Deadline != e.Ready.Add(grid.Day) || e.Budget != 4*grid.Credit {
		t.Errorf("the fourth is %+v", e.Request)
	}
	for at, want := range map[grid.Time]string{0: "", grid.Time(grid.Hour): "0", grid.Time(2 * grid.Day): "0-1", grid.Time(90 * grid.Day): "0-9"} {
		if got := j.Within(at).String(); got != want {
			t.Errorf("by %v %q are ready, want %q", at, got, want)
		}
	}
}

// All or nothing is a job of parts, which any code that knows parts takes.
func TestRecur_AllOrNothingAreParts(t *testing.T) {
	t.Parallel()
	j := daily()
	j.Deadline = grid.Time(5 * grid.Hour)
	j.Recur(grid.Recurrence{Every: grid.Day, Count: 3, All: true})
	if err := grid.CheckParts(&j.Request, 100); err != nil || !j.Whole() || !j.Composed() {
		t.Fatalf("%v: %+v", err, j.Request)
	}
	if j.Budget != 12*grid.Credit || j.Deadline != grid.Time(2*grid.Day+5*grid.Hour) || j.Nodes != 6 || j.AtOnce() != 2 {
		t.Errorf("%+v", j.Request)
	}
	if p := j.Parts[2]; p.Name != "w2" || p.Offset != 2*grid.Day || p.Work == nil || j.Work != nil {
		t.Errorf("%+v", p)
	}
}

func TestRecurrence_RefusalsNameTheKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r         grid.Recurrence
		change    func(*grid.Job)
		key, want string
	}{
		{grid.Recurrence{Every: grid.Second, Count: 2}, nil, "every", "must be 1m to 366d"},
		{grid.Recurrence{Every: grid.Day, Count: 1}, nil, "count", "1 windows; must be 2 to 1000"},
		{grid.Recurrence{Every: grid.Day, Count: 1001}, nil, "count", "more than 1000 windows"},
		{grid.Recurrence{Every: grid.Hour, Count: 2}, nil, "every", "1h is shorter than a window, which takes 2h"},
		{grid.Recurrence{Every: grid.Day, Count: 2}, func(j *grid.Job) { j.Array.Indices = grid.One(1) }, "every", "stands beside array"},
		{grid.Recurrence{Every: grid.Day, Count: 2}, func(j *grid.Job) { j.Parts = make([]grid.JobPart, 1) }, "every", "with parts cannot recur"},
		{grid.Recurrence{Every: grid.Day, Count: 9, All: true}, nil, "count", "for at most 8; leave all_or_nothing out"},
		{grid.Recurrence{Every: 20 * grid.Day, Count: 3, All: true}, nil, "every", "is 40d after the first, and all or nothing is for at most 30d"},
		{grid.Recurrence{Every: grid.Day, Count: 3, All: true}, func(j *grid.Job) { j.Flexible = grid.Hour }, "all_or_nothing", "keep their distance"},
		{grid.Recurrence{Every: grid.Day, Count: 3, All: true}, func(j *grid.Job) { j.Budget = grid.MaxBudget }, "count", "3 windows for"},
	} {
		j := daily()
		if c.change != nil {
			c.change(&j)
		}
		if key, err := c.r.Check(&j); err == nil || key != c.key || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %s: %v; want %s: %s", c.r, key, err, c.key, c.want)
		}
	}
	j := daily()
	if key, err := (grid.Recurrence{Every: grid.Day, Count: 1000}).Check(&j); err != nil {
		t.Errorf("%s: %v", key, err)
	}
}

func TestCountUntil_CountsByHand(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ready := grid.Time(rapid.IntRange(0, 50).Draw(t, "ready"))
		until := grid.Time(rapid.IntRange(0, 3000).Draw(t, "until"))
		every := grid.Duration(rapid.IntRange(1, 20).Draw(t, "every"))
		n := 0
		for at := ready; at < until && n <= grid.MaxRecurring; at = at.Add(every) {
			n++
		}
		if got := grid.CountUntil(ready, until, every); got != n {
			t.Fatalf("%d, want %d", got, n)
		}
	})
}
