package check

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/simulation/torture/world"
	"github.com/bourse-grid/bourse/sites"
)

// offered is an offer for the leg of the first window, which takes an hour from an hour after the
// start: to take it half an hour earlier, for a tenth of its price.
var offered = facts.ShiftOffer{Number: 1, Version: 1, Start: world.Start.Add(30 * grid.Minute), End: world.Start.Add(90 * grid.Minute),
	Ready: world.Start.Add(30 * grid.Minute), Due: world.Start.Add(90 * grid.Minute), Pay: 10, Expires: world.Start.Add(20 * grid.Minute)}

// sold is what a site has on record of that leg.
func sold() []agents.Fact {
	f := facts.LegMoved{Leg: first(firstTx), State: grid.Held, What: begins(firstTx).Legs[0], Job: "wave", Version: 1, Fare: grid.Fare{Base: 100}}
	f.Flex = grid.Flex{Ready: f.What.Start, Due: f.What.End.Add(1)}
	g := f
	g.State = grid.Confirmed
	return []agents.Fact{f, g}
}

func TestOffer_ASiteAsksForWhatItMay(t *testing.T) {
	t.Parallel()
	was := facts.ShiftOffered{Leg: first(firstTx), ShiftOffer: offered, For: "vo2/tide"}
	closed := facts.OfferClosed{Leg: was.Leg, Number: 1, State: facts.OfferRejected}
	for name, c := range map[string]struct {
		facts []agents.Fact
		spoil func(*facts.ShiftOffered)
		words string
	}{
		"as it may":              {sold(), func(*facts.ShiftOffered) {}, ""},
		"again, once declined":   {append(sold(), was, closed), func(f *facts.ShiftOffered) { f.Number = 2 }, ""},
		"again, while open":      {append(sold(), was), func(f *facts.ShiftOffered) { f.Number = 2 }, "while the first offer is open"},
		"not confirmed":          {sold()[:1], func(*facts.ShiftOffered) {}, "not confirmed"},
		"the number of before":   {append(sold(), was, closed), func(*facts.ShiftOffered) {}, "follows 1"},
		"another version":        {sold(), func(f *facts.ShiftOffered) { f.Version = 2 }, "at version 1"},
		"for more":               {sold(), func(f *facts.ShiftOffered) { f.Pay = 20 }, "by the site's shares it is 0.00001"},
		"too far":                {sold(), func(f *facts.ShiftOffered) { f.Start, f.End = f.Start-1, f.End-1 }, "beyond"},
		"shorter":                {sold(), func(f *facts.ShiftOffered) { f.End-- }, "beyond"},
		"to the start":           {sold(), func(f *facts.ShiftOffered) { f.Expires = f.Start }, "can be answered"},
		"over when it is made":   {sold(), func(f *facts.ShiftOffered) { f.Expires = world.Start }, "can be answered"},
		"a second one for a job": {append(sold(), sold2()...), func(*facts.ShiftOffered) {}, "a second owner"},
	} {
		check := New(world.NewPlain(1, nil, sim.Options{}))
		check.siteConfig("site:ash").Promises = &sites.Promises{Shares: pricing.DefaultFlexibility, Ask: 500}
		f := was
		c.spoil(&f)
		m := record(t, newMirror("site:ash"), c.facts...)
		holds(t, name, check.offer(&sim.Step{Now: world.Start, ID: "site:ash"}, m, f), c.words)
	}
}

// sold2 is another leg, whose owner is asked for the same job.
func sold2() []agents.Fact {
	list := sold()
	for i := range list {
		f := list[i].(facts.LegMoved)
		f.Leg = first(secondTx)
		list[i] = f
	}
	return append(list, facts.ShiftOffered{Leg: first(secondTx), ShiftOffer: offered, For: "vo2/tide"})
}

func TestOffer_ABrokerShowsWhatIsOffered(t *testing.T) {
	t.Parallel()
	says := agents.ShiftOffer{Leg: first(firstTx), Number: 1, Version: 1, Start: offered.Start, End: offered.End, Ready: offered.Ready, Due: offered.Due, Pay: 10, For: 20 * grid.Minute}
	was := facts.ShiftOffered{Leg: first(firstTx), ShiftOffer: offered}
	late := taken()
	late[0] = facts.JobSubmitted{Job: grid.Job{Name: "wave", Request: grid.Request{Nodes: 4, Deadline: offered.End - 1}}}
	for name, c := range map[string]struct {
		facts []agents.Fact
		spoil func(*facts.ShiftOffered)
		words string
	}{
		"as offered":      {taken(), func(*facts.ShiftOffered) {}, ""},
		"for less":        {taken(), func(f *facts.ShiftOffered) { f.Pay-- }, "records"},
		"elsewhere":       {taken(), func(f *facts.ShiftOffered) { f.Start++ }, "records"},
		"wider":           {taken(), func(f *facts.ShiftOffered) { f.Ready-- }, "records"},
		"for longer":      {taken(), func(f *facts.ShiftOffered) { f.Expires++ }, "records"},
		"not bought":      {taken()[:2], func(*facts.ShiftOffered) {}, "does not wait alone"},
		"over":            {append(taken(), facts.LegDone{Leg: first(firstTx), State: grid.Settled}), func(*facts.ShiftOffered) {}, "does not wait alone"},
		"twice":           {append(taken(), was), func(*facts.ShiftOffered) {}, "was offered that before"},
		"past a deadline": {late, func(*facts.ShiftOffered) {}, "must lie in"},
	} {
		f := was
		c.spoil(&f)
		m := record(t, newMirror("broker:vo1"), c.facts...)
		holds(t, name, New(world.NewPlain(1, nil, sim.Options{})).offer(&sim.Step{Now: world.Start, ID: "broker:vo1", Message: says}, m, f), c.words)
	}
}

func TestOffer_EndsOnce(t *testing.T) {
	t.Parallel()
	was := facts.ShiftOffered{Leg: first(firstTx), ShiftOffer: offered}
	rejected := facts.OfferClosed{Leg: first(firstTx), Number: 1, State: facts.OfferRejected}
	expired := rejected
	expired.State = facts.OfferExpired
	no := agents.ShiftDeclined{Leg: first(firstTx), Number: 1, Version: 1}
	other := no
	other.Number = 2
	gone := sold()[1].(facts.LegMoved)
	gone.State = grid.Released
	for name, c := range map[string]struct {
		id      agents.ID
		facts   []agents.Fact
		now     grid.Time
		message agents.Message
		closed  facts.OfferClosed
		words   string
	}{
		"declined":                {"site:ash", append(sold(), was), world.Start, no, rejected, ""},
		"unasked":                 {"site:ash", append(sold(), was), world.Start, agents.Confirm{}, rejected, "has not said so"},
		"another one is declined": {"site:ash", append(sold(), was), world.Start, other, rejected, "has not said so"},
		"in time":                 {"site:ash", append(sold(), was), offered.Expires - 1, nil, expired, "its time is over"},
		"over":                    {"site:ash", append(sold(), was), offered.Expires, nil, expired, ""},
		"its leg is gone":         {"site:ash", append(sold(), was, gone), world.Start, nil, expired, ""},
		"not made":                {"site:ash", sold(), world.Start, no, rejected, "was not open"},
		"twice":                   {"site:ash", append(sold(), was, rejected), world.Start, no, rejected, "was not open"},
		"by a user":               {"broker:vo1", append(taken(), was), world.Start, agents.OfferAnswer{}, rejected, ""},
		"by a user, early":        {"broker:vo1", append(taken(), was), world.Start, nil, expired, "its time is over"},
		"by a user, twice":        {"broker:vo1", append(taken(), was, rejected), world.Start, nil, rejected, "was not open"},
	} {
		m := record(t, newMirror(c.id), c.facts...)
		holds(t, name, New(world.NewPlain(1, nil, sim.Options{})).offer(&sim.Step{Now: c.now, ID: c.id, Message: c.message}, m, c.closed), c.words)
	}
}

// accepts is a transaction that accepts the offer, for the price of 5 less a payment of 1.
func accepts() facts.TxBegun {
	f := begins(secondTx)
	f.Legs[0].Start, f.Legs[0].End = offered.Start, offered.End
	f.Replaces, f.Versions, f.Offer, f.Limits = []grid.LegID{first(firstTx)}, []uint32{1}, 1, []grid.Credits{4}
	f.Flex, f.Request = grid.Flex{Ready: offered.Ready, Due: offered.Due}, asked4
	return f
}

func TestOffer_IsAcceptedByItsUserAlone(t *testing.T) {
	t.Parallel()
	was := facts.ShiftOffered{Leg: first(firstTx), ShiftOffer: offered}
	was.Pay = 1
	rejected := facts.OfferClosed{Leg: first(firstTx), Number: 1, State: facts.OfferRejected}
	yes := agents.OfferAnswer{Job: "wave", N: 1, Accept: true}
	no, second, foreign := yes, yes, yes
	no.Accept, second.N, foreign.User = false, 2, "eva"
	open := append(taken(), was)
	commit := facts.TxDecided{Tx: secondTx, Job: "wave", Commit: true}
	for name, c := range map[string]struct {
		facts   []agents.Fact
		now     grid.Time
		message agents.Message
		spoil   func(*facts.TxBegun)
		words   string
	}{
		"accepted":                   {open, world.Start, yes, func(*facts.TxBegun) {}, ""},
		"declined":                   {open, world.Start, no, func(*facts.TxBegun) {}, "its user says"},
		"another offer":              {open, world.Start, second, func(*facts.TxBegun) {}, "its user says"},
		"another user":               {open, world.Start, foreign, func(*facts.TxBegun) {}, "its user says"},
		"unasked":                    {open, world.Start, agents.ShiftOffer{}, func(*facts.TxBegun) {}, "begins with"},
		"late":                       {open, offered.Expires, yes, func(*facts.TxBegun) {}, "not open"},
		"after it was declined":      {append(open[:len(open):len(open)], rejected), world.Start, yes, func(*facts.TxBegun) {}, "not open"},
		"twice":                      {append(open[:len(open):len(open)], accepts(), commit), world.Start, yes, func(*facts.TxBegun) {}, "not open"},
		"again, for the other is no": {append(open[:len(open):len(open)], accepts(), commit, facts.TxReversed{Tx: secondTx, Job: "wave"}), world.Start, yes, func(*facts.TxBegun) {}, "not open"},
		"not made":                   {taken(), world.Start, yes, func(*facts.TxBegun) {}, "not open"},
		"no offer":                   {open, world.Start, yes, func(f *facts.TxBegun) { f.Offer = 0 }, "begins with"},
		"elsewhere":                  {open, world.Start, yes, func(f *facts.TxBegun) { f.Legs[0].Start++ }, "asks for"},
		"for the old price":          {open, world.Start, yes, func(f *facts.TxBegun) { f.Limits[0] = 5 }, "asks for"},
		"within another window":      {open, world.Start, yes, func(f *facts.TxBegun) { f.Flex.Due++ }, "asks for"},
	} {
		f := accepts()
		c.spoil(&f)
		m := record(t, newMirror("broker:vo1"), c.facts...)
		holds(t, name, New(world.NewPlain(1, nil, sim.Options{})).offer(&sim.Step{Now: c.now, ID: "broker:vo1", Message: c.message}, m, f), c.words)
	}
}

func TestOffer_ASiteHoldsWhatItHasOffered(t *testing.T) {
	t.Parallel()
	was := facts.ShiftOffered{Leg: first(firstTx), ShiftOffer: offered}
	held := sold()[0].(facts.LegMoved)
	held.Leg, held.Replaces, held.Offer, held.Version, held.Fare = first(secondTx), first(firstTx), 1, 2, grid.Fare{Base: 90}
	held.What.Start, held.What.End, held.Flex = offered.Start, offered.End, grid.Flex{Ready: offered.Ready, Due: offered.Due}
	confirmed := held
	confirmed.State = grid.Confirmed
	for name, c := range map[string]struct {
		facts []agents.Fact
		asked grid.Time
		spoil func(*facts.LegMoved)
		words string
	}{
		"as offered":         {append(sold(), was), world.Start, func(*facts.LegMoved) {}, ""},
		"elsewhere":          {append(sold(), was), world.Start, func(f *facts.LegMoved) { f.What.Start-- }, "is held as"},
		"paid twice":         {append(sold(), was), world.Start, func(f *facts.LegMoved) { f.Fare.Base = 80 }, "is held as"},
		"unpaid":             {append(sold(), was), world.Start, func(f *facts.LegMoved) { f.Fare.Base = 100 }, "is held as"},
		"in a wider window":  {append(sold(), was), world.Start, func(f *facts.LegMoved) { f.Flex.Due++ }, "is held as"},
		"not made":           {sold(), world.Start, func(*facts.LegMoved) {}, "was not made"},
		"late":               {append(sold(), was), offered.Expires, func(*facts.LegMoved) {}, "which is over"},
		"a second time":      {append(sold(), was, held, confirmed), world.Start, func(f *facts.LegMoved) { f.Leg.Tx.Seq = 3 }, "which is over"},
		"of another's offer": {append(sold(), was), world.Start, func(f *facts.LegMoved) { f.Offer = 2 }, "was not made"},
	} {
		check := New(world.NewPlain(1, nil, sim.Options{}))
		f := held
		c.spoil(&f)
		check.talk.first[limitKey{0, f.Leg}] = c.asked
		m := record(t, newMirror("site:ash"), c.facts...)
		holds(t, name, check.offer(&sim.Step{Now: world.Start, ID: "site:ash"}, m, f), c.words)
	}
}

// A broker's immediate reply to an answer is what it has on record.
func TestOffer_ItsAnswerIsOnRecord(t *testing.T) {
	t.Parallel()
	was := facts.ShiftOffered{Leg: first(firstTx), ShiftOffer: offered}
	rejected := append(taken(), was, facts.OfferClosed{Leg: first(firstTx), Number: 1, State: facts.OfferRejected})
	yes := agents.OfferAnswer{Job: "wave", N: 1, Accept: true}
	no := yes
	no.Accept = false
	for name, c := range map[string]struct {
		facts []agents.Fact
		says  agents.OfferAnswer
		why   grid.Reason
		words string
	}{
		"declined":           {rejected, no, grid.Reason{}, ""},
		"open":               {append(taken(), was), no, grid.Reason{}, "not on record"},
		"the other":          {rejected, yes, grid.Reason{}, "not on record"},
		"refused":            {rejected, yes, grid.Because(grid.BadState, "no"), ""},
		"nothing is offered": {taken(), no, grid.Reason{}, "not on record"},
	} {
		m := record(t, newMirror("broker:vo1"), c.facts...)
		s := &sim.Step{ID: "broker:vo1", Message: c.says}
		holds(t, name, New(world.NewPlain(1, nil, sim.Options{})).saysTrue(s, m, agents.JobReply{Job: "wave", Reason: c.why}), c.words)
	}
}

// A broker shows what has become of an offer.
func TestShowsOffers_AsTheyStand(t *testing.T) {
	t.Parallel()
	was := facts.ShiftOffered{Leg: first(firstTx), ShiftOffer: offered}
	accepted := append(taken(), was, accepts(), facts.TxDecided{Tx: secondTx, Job: "wave", Commit: true})
	lost := append(accepted[:len(accepted):len(accepted)], facts.LegClosed{Leg: first(secondTx)})
	for name, c := range map[string]struct {
		facts []agents.Fact
		n     int
		state facts.OfferState
		words string
	}{
		"open":                    {append(taken(), was), 1, facts.OfferOpen, ""},
		"by another number":       {append(taken(), was), 2, facts.OfferOpen, "as number 2"},
		"accepted":                {accepted, 1, facts.OfferAccepted, ""},
		"accepted, shown as open": {accepted, 1, facts.OfferOpen, "on record"},
		"its place is lost":       {lost, 1, facts.OfferRejected, ""},
		"lost, shown as accepted": {lost, 1, facts.OfferAccepted, "on record"},
		"not made":                {taken(), 1, facts.OfferOpen, "on record"},
	} {
		m := record(t, newMirror("broker:vo1"), c.facts...)
		holds(t, name, m.showsOffers("wave", []facts.JobOffer{{N: c.n, Leg: was.Leg, ShiftOffer: offered, State: c.state}}), c.words)
	}
}

// begun is the checker of a world whose agents have all begun.
func begun(t *testing.T) *Checker {
	t.Helper()
	c := New(world.NewPlain(1, nil, sim.Options{}))
	if err := c.w.Run(world.Start); err != nil {
		t.Fatal(err)
	}
	return c
}

// An offer whose time is over is closed at rest, and a leg that was shifted is shifted for its
// broker too.
func TestOffersAtRest_BothSidesAgree(t *testing.T) {
	t.Parallel()
	was := facts.ShiftOffered{Leg: first(firstTx), ShiftOffer: offered}
	shifted := sold()[1].(facts.LegMoved)
	shifted.Leg, shifted.Replaces, shifted.Offer = first(secondTx), first(firstTx), 1
	gone := sold()[1].(facts.LegMoved)
	gone.State = grid.Released
	held := shifted
	held.State = grid.Held
	moved := append(sold(), was, held, shifted, gone)
	commit := facts.TxDecided{Tx: secondTx, Job: "wave", Commit: true}
	for name, c := range map[string]struct {
		site, broker []agents.Fact
		at           grid.Time
		words        string
	}{
		"open":                {append(sold(), was), append(taken(), was), offered.Expires, ""},
		"open at the site":    {append(sold(), was), taken(), offered.Expires + 1, "S89"},
		"open at the broker":  {nil, append(taken(), was), offered.Expires + 1, "B77"},
		"accepted":            {moved, append(taken(), was, accepts(), commit), offered.Expires + 1, ""},
		"not by the broker":   {moved, append(taken(), was, accepts()), offered.Expires, "does not have as accepted"},
		"reversed since then": {moved, append(taken(), was, accepts(), commit, facts.TxReversed{Tx: secondTx, Job: "wave"}), offered.Expires, "does not have as accepted"},
	} {
		check := begun(t)
		check.txs[firstTx], check.txs[secondTx] = &txTruth{begun: begins(firstTx)}, &txTruth{begun: accepts()}
		check.procs[check.latest["site:ash"]] = record(t, newMirror("site:ash"), c.site...)
		check.procs[check.latest["broker:vo1"]] = record(t, newMirror("broker:vo1"), c.broker...)
		holds(t, name, check.offersAtRest(c.at), c.words)
	}
}

// A broker's old life, which does not know that it is one, notes what its site does not hear.
func TestClustersAtRest_AnOldLifeNotesInVain(t *testing.T) {
	t.Parallel()
	done := facts.LegDone{Leg: first(firstTx), State: grid.Settled}
	site := record(t, newMirror("site:ash"), facts.LifeListed{Broker: "vo1", Incarnation: 2})
	for name, c := range map[string]struct {
		facts []agents.Fact
		vain  bool
	}{
		"an old one":       {append(taken(), facts.LifeBegun{Incarnation: 1}, done), true},
		"the latest":       {append(taken(), facts.LifeBegun{Incarnation: 2}, done), false},
		"nothing to note":  {append(taken(), facts.LifeBegun{Incarnation: 1}), false},
		"it knows of that": {append(taken(), facts.LifeBegun{Incarnation: 1}, done, facts.LifeFenced{Latest: 2}), false},
	} {
		check := begun(t)
		check.procs[check.latest["broker:vo1"]] = record(t, newMirror("broker:vo1"), c.facts...)
		if got := check.notesInVain(site, first(firstTx)); got != c.vain {
			t.Errorf("%s: %t, want %t", name, got, c.vain)
		}
	}
}
