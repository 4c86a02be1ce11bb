package jobs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/grid"
	"pgregory.net/rapid"
)

// testQueue is a queue of jobs that never fit, with its naive twin for one user.
type testQueue struct {
	Queue
	n       int
	terms   map[string]userTerms
	holders []grid.Holder
}

func (q *testQueue) of(user string) *tenancy.Terms {
	list := slices.Clone(q.holders)
	for name, t := range q.terms {
		list = append(list, grid.Holder{User: name, Terms: grid.Grants{grid.TermShare: int64(max(t.Share, 1)), grid.TermPriority: int64(t.Priority)}})
	}
	slices.SortFunc(list, grid.Holder.Compare)
	x := tenancy.New(list, nil)
	return x.User(user)
}

// userTerms is what a user of the tests is granted; share 0: 1.
type userTerms struct{ Share, Priority int }

func (q *testQueue) add(user string, priority int) *Job {
	q.n++
	j := NewJob(grid.Job{Name: fmt.Sprint(user, q.n), User: user, Priority: priority, Submit: grid.Time(q.n)})
	q.insert(j)
	return j
}

// batch takes a batch, and applies what came of it.
func (q *testQueue) batch(n int) (users, names []string) {
	list, served, passes := q.Take(nil, n, q.of)
	q.passed(passes)
	for _, j := range list {
		j.Taken = false
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
	q := testQueue{terms: map[string]userTerms{"ben": {Share: 3}, "olga": {Priority: 1}}}
	for range 9 {
		q.add("ana", 0)
	}
	for i := range 9 {
		q.add("ben", 1_000_000+i)
	}
	q.add("cleo", -5)
	q.add("olga", -1000)
	q.Call(true)
	var got []string
	for range 5 {
		users, _ := q.batch(4)
		got = append(got, strings.Join(users, " "))
	}
	if want := "olga ana ben ben|ben cleo ana ben|ben ben ana ben|ben ben ana ana|ana ana ana ana"; strings.Join(got, "|") != want {
		t.Errorf("batches %s\nwant    %s", strings.Join(got, "|"), want)
	}
	q.Call(true)
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
		q := testQueue{terms: map[string]userTerms{}}
		bound := 0
		for _, u := range users {
			s := rapid.IntRange(1, 4).Draw(t, "share")
			q.terms[u], bound = userTerms{Share: s}, bound+s
		}
		size := rapid.IntRange(1, 7).Draw(t, "batch")
		waits := map[string]int{} // jobs of others taken since somebody's was due
		for range 60 {
			for range rapid.IntRange(0, 8).Draw(t, "jobs") {
				q.add(rapid.SampledFrom(users).Draw(t, "user"), rapid.IntRange(-3, 3).Draw(t, "priority"))
			}
			q.Call(rapid.Bool().Draw(t, "all"))
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
		q := testQueue{terms: map[string]userTerms{"ana": {Share: rapid.IntRange(1, 5).Draw(t, "share")}}}
		var list []*Job // the twin
		due := map[string]bool{}
		for range 30 {
			fresh := map[string]bool{}
			for range rapid.IntRange(0, 5).Draw(t, "jobs") {
				j := q.add("ana", rapid.IntRange(-2, 2).Draw(t, "priority"))
				list, fresh[j.Name] = append(list, j), true
			}
			slices.SortFunc(list, (*Job).before)
			all := rapid.Bool().Draw(t, "all")
			q.Call(all)
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
			taken, served, _ := q.Take(nil, n, q.of)
			var got []string
			for _, j := range taken {
				got, j.Taken = append(got, j.Name), false
			}
			if !slices.Equal(got, want) || served != nil {
				t.Fatalf("took %v, served %v; want %v", got, served, want)
			}
		}
	})
}

// While tenants have due jobs, the jobs taken follow their shares but for one job each,
// whatever the sizes of the jobs and of the batches.
func TestPass_SharesConverge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shares := map[string]int64{}
		q := testQueue{terms: map[string]userTerms{}}
		for _, name := range []string{"astro", "bio", "chem"} {
			shares[name] = int64(rapid.IntRange(1, 9).Draw(t, "share"))
			q.holders = append(q.holders, grid.Holder{Tenant: name, Terms: grid.Grants{grid.TermShare: shares[name]}})
			for _, user := range []string{name + "1", name + "2"} {
				q.holders = append(q.holders, grid.Holder{User: user, In: name})
			}
		}
		taken, largest := map[string]int64{}, int64(0)
		for range 60 {
			for tenant := range shares {
				for _, user := range []string{tenant + "1", tenant + "2"} {
					for q.Queue.Of(user) < 12 {
						j := q.add(user, 0)
						j.Nodes, j.Length = rapid.IntRange(1, 50).Draw(t, "nodes"), grid.Duration(rapid.IntRange(1, 100).Draw(t, "seconds"))*grid.Second
						largest = max(largest, int64(j.Nodes)*int64(j.Length/grid.Second))
						j.State = grid.JobWaiting
					}
				}
			}
			q.Call(true)
			list, served, passes := q.Take(nil, rapid.IntRange(1, 10).Draw(t, "batch"), q.of)
			for _, j := range list { // all are placed
				taken[strings.TrimRight(j.User, "12")] += int64(j.Nodes) * int64(j.Length/grid.Second)
				j.Taken, j.State = false, grid.JobPlaced
				q.leave(j)
			}
			q.served(served)
			q.passed(passes)
			q.sweep()
		}
		for a, x := range taken {
			for b, y := range taken {
				if x*shares[b]-y*shares[a] > (largest+200)*max(shares[a], shares[b])*2 {
					t.Fatalf("%s with share %d has had %d node-seconds, %s with share %d %d; the largest job has %d", a, shares[a], x, b, shares[b], y, largest)
				}
			}
		}
	})
}

// A job may ask for as much priority as was granted. That priority counts beside the jobs
// of others; without a grant it counts among its user's own jobs.
func TestQueue_PriorityCountsAsFarAsItWasGranted(t *testing.T) {
	t.Parallel()
	q := testQueue{holders: []grid.Holder{{User: "ana", Terms: grid.Grants{grid.TermMaxPriority: 5}}, {User: "cleo", Terms: grid.Grants{grid.TermPriority: 2}}}}
	for _, x := range []struct {
		user     string
		priority int
	}{{"ben", 1000}, {"ben", 0}, {"cleo", 0}, {"ana", 5}, {"ana", 1}, {"ana", 0}} {
		q.add(x.user, x.priority)
	}
	q.Call(true)
	if _, names := q.batch(6); fmt.Sprint(names) != "[ana4 cleo3 ana5 ben1 ana6 ben2]" {
		t.Errorf("served %v: priority 5 of ana's first, then cleo's 2, then ana's 1, then by turns", names)
	}
}
