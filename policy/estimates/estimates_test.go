package estimates

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

const minute = grid.Minute

func job(user int64, nodes int, request grid.Duration) *grid.LocalJob {
	return &grid.LocalJob{User: user, Nodes: nodes, Estimate: request, Run: request / 3}
}

func TestLastTwo_IsTheMeanOfTheUsersLastTwoRunsWithinTheRequest(t *testing.T) {
	t.Parallel()
	p := New(LastTwo)
	ask := func(user int64, request, want grid.Duration) {
		t.Helper()
		if got := p.Predict(job(user, 1, request), request); got != want {
			t.Errorf("user %d, request %v: predicted %v, want %v", user, request, got, want)
		}
	}
	ask(7, 60*minute, 60*minute) // unknown: the request
	p.Learn(job(7, 1, 60*minute), 60*minute, 10*minute)
	ask(7, 60*minute, 10*minute) // one run
	p.Learn(job(8, 1, 60*minute), 60*minute, 50*minute)
	p.Learn(job(7, 1, 60*minute), 60*minute, 21*minute+1)
	ask(7, 60*minute, 15*minute+30*grid.Second) // of 10 min and 21 min 0.001 s, rounded down
	p.Learn(job(7, 1, 60*minute), 60*minute, 40*minute+1)
	ask(7, 60*minute, 30*minute+30*grid.Second+1)
	ask(7, 20*minute, 20*minute) // no more than the request
	ask(8, 60*minute, 50*minute)
	p.Learn(job(9, 1, minute), minute, 0)
	ask(9, minute, grid.Second)
	p.Learn(job(9, 1, 60*minute), 60*minute, 20*minute)
	ask(9, 60*minute, 10*minute)                      // a run of no length is one too
	p.Learn(job(-1, 1, 60*minute), 60*minute, minute) // nobody knows who that is
	ask(-1, 60*minute, 60*minute)
	p.Learn(job(0, 1, 60*minute), 60*minute, minute)
	ask(0, 60*minute, minute)
}

// Once the table is full, new users' estimates are taken as they are, whatever their jobs do.
// The predictions for known users are still updated.
func TestLastTwo_RemembersSoManyUsers(t *testing.T) {
	t.Parallel()
	p := New(LastTwo)
	for user := range int64(most + 1) {
		p.Learn(job(user, 1, 60*minute), 60*minute, minute)
	}
	p.Learn(job(0, 1, 60*minute), 60*minute, 3*minute)
	for user, want := range map[int64]grid.Duration{0: 2 * minute, most - 1: minute, most: 60 * minute} {
		if got := p.Predict(job(user, 1, 60*minute), 60*minute); got != want {
			t.Errorf("user %d: %v, want %v", user, got, want)
		}
	}
}

func TestExact_IsTheRunWithinTheRequest(t *testing.T) {
	t.Parallel()
	p := New(Exact)
	for _, c := range []struct{ run, want grid.Duration }{{7 * minute, 7 * minute}, {1, grid.Second}, {90 * minute, 60 * minute}} {
		if got := p.Predict(&grid.LocalJob{User: 1, Nodes: 1, Run: c.run}, 60*minute); got != c.want {
			t.Errorf("a run of %v: %v, want %v", c.run, got, c.want)
		}
	}
}

// 1 min, 15, 30, 60, ..., up to the request.
func TestCorrect_OfLastTwoAddsAMinuteThenQuartersThatDouble(t *testing.T) {
	t.Parallel()
	const first = 7 * minute
	at := first
	for _, more := range []grid.Duration{1, 15, 30, 60, 120} {
		next := LastTwo.Correct(first, at, grid.Day)
		if next-at != more*minute {
			t.Errorf("after %v it adds %v, want %d min", at, next-at, more)
		}
		at = next
	}
	if got := LastTwo.Correct(first, first, first+30*grid.Second); got != first+30*grid.Second {
		t.Errorf("beyond the request: %v", got)
	}
	if got := LastTwo.Correct(1, grid.MaxDuration-1, grid.MaxDuration); got != grid.MaxDuration {
		t.Errorf("near the end of time: %v", got)
	}
}

// TPDS 2007: the average of the two last runs, the user's estimate until there are two.
func TestTsafrir_WaitsForTwoRunsOfAUser(t *testing.T) {
	t.Parallel()
	p := New(Tsafrir)
	for _, step := range []struct{ want, run grid.Duration }{
		{60 * minute, 10 * minute}, // nobody knows the user: the request
		{60 * minute, 21*minute + 1},
		{15*minute + 30*grid.Second, 40*minute + grid.Second - 1}, // of 10 min and 21 min 0.001 s
		{30*minute + 30*grid.Second, 99 * minute},                 // whole seconds, rounded down
		{60 * minute, minute},                                     // no more than the request
	} {
		if got := p.Predict(job(7, 1, 60*minute), 60*minute); got != step.want {
			t.Errorf("before the run of %v: %v, want %v", step.run, got, step.want)
		}
		p.Learn(job(7, 1, 60*minute), 60*minute, step.run)
	}
	if got := p.Predict(job(8, 1, 60*minute), 60*minute); got != 60*minute {
		t.Errorf("another user's runs count: %v", got)
	}
	for range 2 {
		p.Learn(job(9, 1, minute), minute, 1)
	}
	if got := p.Predict(job(9, 1, minute), minute); got != grid.Second {
		t.Errorf("two runs of no length: %v", got)
	}
}

// 1, 5, 15, 30 min, 1, 2, 5, 10, 20, 50, 100 h beyond the first prediction, up to the
// request; then the request.
func TestCorrect_OfTsafrirGoesByThePapersSteps(t *testing.T) {
	t.Parallel()
	const first, limit = 7 * minute, 1000 * grid.Hour
	at := grid.Duration(first)
	for _, beyond := range []grid.Duration{1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000} {
		if at = Tsafrir.Correct(first, at, limit); at != first+beyond*minute {
			t.Errorf("%v, want %d min beyond %v", at, beyond, grid.Duration(first))
		}
	}
	if got := Tsafrir.Correct(first, at, limit); got != limit {
		t.Errorf("after the last step: %v", got)
	}
	if got := Tsafrir.Correct(first, first+minute, first+3*minute); got != first+3*minute {
		t.Errorf("beyond the request: %v", got)
	}
}

func TestRegression_BeginsWithTheRequest(t *testing.T) {
	t.Parallel()
	p := New(Regression)
	for _, request := range []grid.Duration{grid.Second, 37 * minute, 18 * grid.Hour} {
		if got := p.Predict(job(1, 4, request), request); got != request {
			t.Errorf("%v for a request of %v", got, request)
		}
	}
}

// Runs that are always a quarter of the request come to be expected.
func TestRegression_LearnsAShareOfTheRequest(t *testing.T) {
	t.Parallel()
	p := New(Regression)
	for k := range 200 {
		request := grid.Duration(8<<(k%6)) * minute
		p.Learn(job(int64(k%7), 1, request), request, request/4)
	}
	for _, request := range []grid.Duration{8 * minute, 64 * minute, 256 * minute} {
		if got := p.Predict(job(3, 1, request), request); got < request/5 || got > request/3 {
			t.Errorf("%v for a request of %v", got, request)
		}
	}
}

// That there is a job; the octaves of its request and nodes; whether its user is known, and
// the octaves of the last run and the one before it, for want of it the last, for want of
// both the request; noon is one, six hours off a half.
func TestFeatures_AreWhatIsKnownOfAJob(t *testing.T) {
	t.Parallel()
	p := New(Regression)
	ask := func(user int64, nodes int, submit grid.Duration, want vector) {
		t.Helper()
		j := &grid.LocalJob{User: user, Nodes: nodes, Submit: grid.Time(submit)}
		if got := p.features(j, 1<<20); got != want {
			t.Errorf("user %d, %d nodes at %v: %v, want %v", user, nodes, submit, got, want)
		}
	}
	ask(7, 1, 0, vector{1, 20, 0, 0, 20, 20, 0, .5})
	p.Learn(job(7, 8, grid.Hour), grid.Hour, 1<<10)
	ask(7, 8, grid.Day/2, vector{1, 20, 3, 1, 10, 10, 1, .5})
	p.Learn(job(7, 8, grid.Hour), grid.Hour, 1<<12)
	ask(7, 0, 3*grid.Day+6*grid.Hour, vector{1, 20, 0, 1, 12, 10, .5, 1})
	ask(8, 6, 18*grid.Hour, vector{1, 20, 2.5, 0, 20, 20, .5, 0})
	ask(8, 1, 3*grid.Hour-2*grid.Day, vector{1, 20, 0, 0, 20, 20, .25, .75})
}

// draws are jobs with their runs, which depend on the request.
func draws(seed uint64, n int) (jobs []*grid.LocalJob, runs []grid.Duration) {
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range n {
		request := grid.Duration(1+r.IntN(64)) * 15 * minute
		j := job(int64(r.IntN(5)), 1+r.IntN(64), request)
		j.Submit = grid.Time(i) * grid.Time(40*minute)
		jobs = append(jobs, j)
		runs = append(runs, max(1, grid.Duration(float64(request)*math.Pow(r.Float64(), 3))))
	}
	return jobs, runs
}

// Run by run it comes to what a ridge regression of all runs at once does: least squares
// with a penalty on what moves away from the request, solved by elimination.
func TestRegression_IsTheRidgeRegressionOfAllRuns(t *testing.T) {
	t.Parallel()
	p := New(Regression)
	jobs, runs := draws(1, 400)
	var a [features][features + 1]float64
	for i := range a {
		a[i][i] = 1 / prior
	}
	for k, j := range jobs {
		x := p.features(j, j.Estimate)
		y := octaves(int64(runs[k])) - x[requested] // from the prior
		for i := range a {
			for l := range x {
				a[i][l] += x[i] * x[l]
			}
			a[i][features] += x[i] * y
		}
		p.Learn(j, j.Estimate, runs[k])
	}
	for i := range a {
		for l := range a {
			if l == i {
				continue
			}
			f := a[l][i] / a[i][i]
			for c := range a[l] {
				a[l][c] -= f * a[i][c]
			}
		}
	}
	for i := range a {
		want := a[i][features] / a[i][i]
		if i == requested {
			want++
		}
		if got := p.fit.weights[i]; math.Abs(got-want) > 1e-6 {
			t.Errorf("weight %d is %v, want %v", i, got, want)
		}
	}
}

// A process that goes on with what another one has saved predicts the same, to the bit.
func TestSave_APredictorThatIsLoadedGoesOnAsTheOther(t *testing.T) {
	t.Parallel()
	for _, rule := range []Rule{Request, Exact, Tsafrir, LastTwo, Regression} {
		p, jobs, runs := New(rule), []*grid.LocalJob(nil), []grid.Duration(nil)
		jobs, runs = draws(2, 300)
		for k, j := range jobs[:150] {
			p.Learn(j, j.Estimate, runs[k])
		}
		text, err := json.Marshal(p.Save())
		if err != nil {
			t.Fatal(err)
		}
		var saved *facts.LearnedRuns
		if err := json.Unmarshal(text, &saved); err != nil {
			t.Fatal(err)
		}
		q := New(rule)
		q.Load(saved)
		for k, j := range jobs[150:] {
			if a, b := p.Predict(j, j.Estimate), q.Predict(j, j.Estimate); a != b || a < grid.Second || a > j.Estimate {
				t.Fatalf("%v: job %d: %v and %v for a request of %v", rule, k, a, b, j.Estimate)
			}
			p.Learn(j, j.Estimate, runs[150+k])
			q.Learn(j, j.Estimate, runs[150+k])
		}
		if (p.Save() != nil) != (rule >= Tsafrir) {
			t.Errorf("%v saves %v", rule, p.Save())
		}
		if a, b := p.Save(), q.Save(); !reflect.DeepEqual(a, b) {
			t.Errorf("%v: %v is saved, then %v", rule, a, b)
		}
	}
}

// Loading replaces all that was known. Entries of another form are left out: with another number of
// weights, or of their companions.
func TestLoad_BeginsAnewAndLeavesOutAnotherForm(t *testing.T) {
	t.Parallel()
	p := New(Regression)
	p.Learn(job(7, 1, 60*minute), 60*minute, minute)
	right := p.Save()
	p.Load(nil)
	if p.Save() != nil {
		t.Errorf("%v is still known", p.Save())
	}
	for _, change := range []func(l *facts.LearnedRuns){
		func(l *facts.LearnedRuns) { l.Weights = l.Weights[:features-1] },
		func(l *facts.LearnedRuns) { l.Spread = l.Spread[:features] },
	} {
		other := *right
		change(&other)
		p.Load(&other)
		if got := p.Save(); len(got.Users) != 1 || got.Runs != 0 || got.Weights != nil {
			t.Errorf("%v is known of %v", got, other)
		}
	}
	two := New(LastTwo)
	two.Learn(job(7, 1, 60*minute), 60*minute, minute)
	if l := two.Save(); l.Runs != 0 || l.Weights != nil || l.Spread != nil {
		t.Errorf("without a regression one is saved: %v", l)
	}
}

func TestOctaves_AreThoseOfPowersOfTwoAndLengthUndoesThem(t *testing.T) {
	t.Parallel()
	for k := range 50 {
		n := int64(1) << k
		if got := octaves(n); got != float64(k) {
			t.Errorf("2^%d has %v", k, got)
		}
		for _, n := range []int64{n, n + n/3, n + n/2} {
			if got := length(octaves(n)); k < 49 && got != n && got != n-1 {
				t.Errorf("%d: length %d", n, got)
			}
		}
	}
	if length(-3) != 1 || length(50) != int64(grid.MaxDuration) || length(math.Inf(1)) != int64(grid.MaxDuration) || length(math.NaN()) != int64(grid.MaxDuration) {
		t.Error("no length beyond the bounds")
	}
}

func TestParseRule_ReadsTheNames(t *testing.T) {
	t.Parallel()
	for _, s := range Names() {
		if r, err := ParseRule(s); err != nil || r.String() != s {
			t.Errorf("%q: %v, %v", s, r, err)
		}
	}
	if _, err := ParseRule("mean"); err == nil || err.Error() != `estimates "mean" is unknown; must be request, exact, tsafrir, last-two or regression` {
		t.Error(err)
	}
}

func BenchmarkRegression_LearnAndPredict(b *testing.B) {
	p := New(Regression)
	jobs, runs := draws(3, 1000)
	for i := 0; b.Loop(); i++ {
		j := jobs[i%1000]
		p.Predict(j, j.Estimate)
		p.Learn(j, j.Estimate, runs[i%1000])
	}
}
