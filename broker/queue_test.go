package broker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// One user hands in 10,000 jobs that never fit, at the highest priority there is.
// Another user's jobs are planned in the next cycle, and those that have to wait are
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
	if r := submit("c", "ana"); !strings.Contains(r.Detail, "max_waiting of ana is 2, and as many jobs wait already") {
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
