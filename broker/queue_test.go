package broker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// testQueue is a queue of jobs that never fit, with its naive twin for one user.
type testQueue struct {
	queue
	n       int
	terms   map[string]UserTerms
	holders []grid.Holder
}

func (q *testQueue) of(user string) *tenancy.Terms {
	c := Config{Users: q.terms, Holders: q.holders, MaxWaiting: tenancy.DefaultMaxWaiting}
	x := tenancy.New(c.holders(), nil)
	return x.User(user)
}

func (q *testQueue) add(user string, priority int) *job {
	q.n++
	j := newJob(grid.Job{Name: fmt.Sprint(user, q.n), User: user, Priority: priority, Submit: grid.Time(q.n)})
	q.insert(j)
	return j
}

// batch takes a batch, and applies what came of it.
func (q *testQueue) batch(n int) (users, names []string) {
	list, served, passes := q.take(nil, n, q.of)
	q.passed(passes)
	for _, j := range list {
		j.taken = false
		users, names = append(users, j.User), append(names, j.Name)
	}
	q.served(served)
	q.sweep()
	return users, names
}

// Users take turns, each as long as its share, over the ends of batches; who has a
// higher priority by an operator's word comes before; a user's own priorities say
// which of its own jobs come first and nothing else.
func TestQueue_UsersTakeTurns(t *testing.T) {
	t.Parallel()
	q := testQueue{terms: map[string]UserTerms{"ben": {Share: 3}, "olga": {Priority: 1}}}
	for range 9 {
		q.add("ana", 0)
	}
	for i := range 9 {
		q.add("ben", 1_000_000+i)
	}
	q.add("cleo", -5)
	q.add("olga", -1000)
	q.call(true)
	var got []string
	for range 5 {
		users, _ := q.batch(4)
		got = append(got, strings.Join(users, " "))
	}
	if want := "olga ana ben ben|ben cleo ana ben|ben ben ana ben|ben ben ana ana|ana ana ana ana"; strings.Join(got, "|") != want {
		t.Errorf("batches %s\nwant    %s", strings.Join(got, "|"), want)
	}
	q.call(true)
	if _, names := q.batch(4); fmt.Sprint(names) != "[olga20 cleo19 ben18 ben17]" {
		t.Errorf("then %v: of each user the job with the highest priority first", names)
	}
}

// Nobody who has a job due waits longer than for one turn of each of the others,
// and the rest of one that is under way; whatever they submit, and at whatever
// priority.
func TestQueue_NobodyWaitsLongerThanForATurnOfEachOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		users := []string{"", "ana", "ben", "cleo", "dora"}
		q := testQueue{terms: map[string]UserTerms{}}
		bound := 0
		for _, u := range users {
			s := rapid.IntRange(1, 4).Draw(t, "share")
			q.terms[u], bound = UserTerms{Share: s}, bound+s
		}
		size := rapid.IntRange(1, 7).Draw(t, "batch")
		waits := map[string]int{} // jobs of others taken since somebody's was due
		for range 60 {
			for range rapid.IntRange(0, 8).Draw(t, "jobs") {
				q.add(rapid.SampledFrom(users).Draw(t, "user"), rapid.IntRange(-3, 3).Draw(t, "priority"))
			}
			q.call(rapid.Bool().Draw(t, "all"))
			due := map[string]bool{}
			for _, l := range q.lines {
				due[l.user] = l.due > 0
			}
			taken, _ := q.batch(size)
			for _, u := range users {
				for _, x := range taken {
					if waits[u]++; x == u || !due[u] {
						waits[u] = 0
					}
					if waits[u] > bound+3 {
						t.Fatalf("%d jobs of others were taken, and none of %q's, which were due", waits[u], u)
					}
				}
			}
			for _, l := range q.lines {
				if l.due == 0 { // all that was due has been taken: what follows is no wait
					waits[l.user] = 0
				}
				if l.due < 0 || q.due < l.due || l.waiting != len(l.jobs) {
					t.Fatalf("the line of %q has %d jobs due of %d, and %d wait", l.user, l.due, len(l.jobs), l.waiting)
				}
			}
		}
	})
}

// Where one user has all the jobs, or nobody is named, they are served in one list
// by priority, submission and name, and nothing is recorded of who was served.
func TestQueue_OfOneUserIsOneList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := testQueue{terms: map[string]UserTerms{"ana": {Share: rapid.IntRange(1, 5).Draw(t, "share")}}}
		var list []*job // the twin
		due := map[string]bool{}
		for range 30 {
			fresh := map[string]bool{}
			for range rapid.IntRange(0, 5).Draw(t, "jobs") {
				j := q.add("ana", rapid.IntRange(-2, 2).Draw(t, "priority"))
				list, fresh[j.Name] = append(list, j), true
			}
			slices.SortFunc(list, (*job).before)
			all := rapid.Bool().Draw(t, "all")
			q.call(all)
			all = all && len(due) == 0
			for _, j := range list {
				if all || fresh[j.Name] {
					due[j.Name] = true
				}
			}
			n := rapid.IntRange(1, 6).Draw(t, "batch")
			var want []string
			for _, j := range list {
				if due[j.Name] && len(want) < n {
					want = append(want, j.Name)
					delete(due, j.Name)
				}
			}
			taken, served, _ := q.take(nil, n, q.of)
			var got []string
			for _, j := range taken {
				got, j.taken = append(got, j.Name), false
			}
			if !slices.Equal(got, want) || served != nil {
				t.Fatalf("took %v, served %v; want %v", got, served, want)
			}
		}
	})
}

// One user hands in 10,000 jobs that never fit, at the highest priority there is.
// What another submits is planned in the next cycle, and what of it has to wait is
// tried in each: none waits behind the others.
func TestCycle_HopelessJobsOfOneUserDoNotHoldUpAnother(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 3_600_000)
	w := newTestWorld(t, testConfig(site), site)
	w.quiet = true
	for i := range 10_000 {
		j := testJob(fmt.Sprint("hopeless", i), 4, 1000*grid.Second, 1) // it costs 4 credits
		j.User, j.Priority = "ben", 1_000_000
		w.submit(10*sec, j)
	}
	w.Run(2500 * sec)
	wave, dear := testJob("wave", 4, 1000*grid.Second, 9*grid.Credit), testJob("dear", 1, 1000*grid.Second, 1)
	wave.User, dear.User = "ana", "ana"
	w.submit(2600*sec, dear, wave)
	w.Run(3000 * sec)
	if v := w.job("wave"); v.State != grid.JobPlaced {
		t.Errorf("ana's job is %v after the next cycle: %v", v.State, v.Reason)
	}
	tried := func() (n int) {
		for _, f := range only[facts.JobPostponed](w) {
			if f.Job == "dear" {
				n++
			}
		}
		return n
	}
	if n := tried(); n != 1 {
		t.Errorf("ana's other job was tried %d times in it", n)
	}
	w.Run(6000 * sec)
	if n := tried(); n != 4 {
		t.Errorf("ana's other job was tried %d times in 4 cycles", n)
	}
	w.check.rest()
}

// A user may have so many jobs waiting and no more, and is told the bound and how
// many there are; others are taken still. Room is where one of them is given up.
func TestSubmit_BoundsWhatWaitsOfOneUser(t *testing.T) {
	t.Parallel()
	cfg := testConfig(newFakeSite("north", 4, 0))
	cfg.MaxWaiting, cfg.Users = 2, map[string]UserTerms{"olga": {MaxWaiting: 3}}
	b := New(cfg)
	step := func(m agents.Message) agents.Message {
		var out agents.Outbox
		b.Step(0, "client", m, &out)
		return out.Sends[0].Message
	}
	submit := func(name, user string) grid.Reason {
		j := testJob(name, 1, grid.Second, grid.Credit)
		j.User = user
		return step(agents.Submit{Job: j}).(agents.SubmitReply).Reason
	}
	for _, x := range []struct {
		name, user string
		want       grid.Code
	}{{"a", "ana", ""}, {"b", "ana", ""}, {"c", "ana", grid.QueueFull}, {"a", "ana", ""}, {"d", "", ""}, {"e", "ben", ""},
		{"f", "olga", ""}, {"g", "olga", ""}, {"h", "olga", ""}, {"i", "olga", grid.QueueFull}} {
		if r := submit(x.name, x.user); r.Code != x.want {
			t.Errorf("%s of %q: %v", x.name, x.user, r)
		}
	}
	if r := submit("c", "ana"); !strings.Contains(r.Detail, "2 jobs of ana already wait, max_waiting is 2") {
		t.Errorf("it says %q", r.Detail)
	}
	step(agents.JobCancel{Job: "a", User: "ana"})
	if r := submit("c", "ana"); r.Refused() {
		t.Errorf("with room: %v", r)
	}
}

// Senseless terms of users are refused, with the first user's name.
func TestConfig_ChecksUsers(t *testing.T) {
	t.Parallel()
	for want, terms := range map[string]UserTerms{"share 1001 of user \"ana\" is outside 1..1000": {Share: 1001}, "share -1": {Share: -1}, "max_waiting -1 of user": {MaxWaiting: -1}} {
		cfg := testConfig(newFakeSite("north", 4, 0))
		cfg.Users = map[string]UserTerms{"zoe": {Share: -9}, "ana": terms}
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", terms, err)
		}
	}
}
