package explain

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
)

// Show writes the instants in the words of agents as clock shows them. A live process
// must call it before it prints the explanation or hands it out.
func (e *Explanation) Show(clock func(grid.Time) string) {
	reasons := []*grid.Reason{&e.Reason}
	words := []*string{}
	for i := range e.Latest {
		reasons = append(reasons, &e.Latest[i].Reason)
	}
	if c := e.Cycle; c != nil {
		reasons = append(reasons, &c.Reason, &c.Bound)
		for i := range c.Sites {
			reasons = append(reasons, &c.Sites[i].Reason)
		}
		for i := range c.Options {
			words = append(words, &c.Options[i].Lost)
		}
		for i := range c.Goals {
			reasons = append(reasons, &c.Goals[i].Reason)
		}
	}
	for i := range e.Turns {
		t := &e.Turns[i]
		t.Words = grid.Phrase(t.Words.In(clock))
		reasons = append(reasons, &t.Reason)
	}
	for i := range e.Changes {
		reasons = append(reasons, &e.Changes[i].Reason)
	}
	if e.Earliest != nil {
		reasons = append(reasons, &e.Earliest.None)
	}
	for _, r := range reasons {
		words = append(words, &r.Detail)
	}
	for _, s := range words {
		*s = grid.Phrase(*s).In(clock)
	}
}

// Text shows the explanation on a terminal, in lines that fit one. clock
// shows an instant; nil shows seconds. What agents said is shown as it is: see Show.
func (e *Explanation) Text(clock func(grid.Time) string) string {
	if clock == nil {
		clock = grid.Time.String
	}
	w := &writer{clock: clock}
	e.head(w)
	e.offers(w)
	e.alternatives(w)
	e.goals(w)
	e.became(w)
	e.changes(w)
	if len(e.Unknown) > 0 {
		w.line("\nWhat cannot be said")
		for _, s := range e.Unknown {
			w.text("  " + s)
		}
	}
	return w.String()
}

// writer collects lines.
type writer struct {
	strings.Builder
	clock func(grid.Time) string
}

func (w *writer) line(format string, args ...any) { w.text(fmt.Sprintf(format, args...)) }

// columns is how wide a terminal is.
const columns = 80

// text writes a line, and what does not fit below it, further in.
func (w *writer) text(s string) {
	for _, line := range strings.Split(grid.Rounded(s), "\n") { // the exact figures are in the JSON
		in := len(line) - len(strings.TrimLeft(line, "* "))
		used := in
		w.WriteString(line[:in])
		for rest := line[in:]; rest != ""; {
			word := strings.TrimLeft(rest, " ")
			gap := len(rest) - len(word)
			word, _, _ = strings.Cut(word, " ")
			rest = rest[gap+len(word):]
			if wide := utf8.RuneCountInString(word); used > in && used+gap+wide > columns {
				w.WriteByte('\n')
				gap, used = in+hang, 0
			}
			w.WriteString(strings.Repeat(" ", gap) + word)
			used += gap + utf8.RuneCountInString(word)
		}
		w.WriteByte('\n')
	}
}

// hang is how much further in a line goes on.
const hang = 4

// head says what was asked and how it stands.
func (e *Explanation) head(w *writer) {
	whose := ""
	if e.User != "" {
		whose = " of " + e.User
	}
	w.line("Job %s%s: %s since %s", e.Job, whose, e.State, w.clock(e.Since))
	if e.Reason.Refused() {
		w.line("  because: %v", e.Reason)
	}
	if e.Waiting != nil {
		in := ""
		if e.Waiting.Cycles > 0 {
			in = ", in " + grid.Count(e.Waiting.Cycles, "cycle")
		}
		w.line("  for that reason since %s%s", w.clock(e.Waiting.From), in)
	}
	q := &e.Asked
	if q.Nodes > 0 {
		asked := fmt.Sprintf("  asked for %s for %s at performance %v or more, at most %v credits", grid.Count(q.Nodes, "node"), span(q.Length), q.MinPerformance, q.Budget)
		if n := len(q.Sizes); n > 0 {
			asked += fmt.Sprintf("; or in another of its %d sizes, from %d to %s", n, q.Sizes[0].Nodes, grid.Count(q.Sizes[n-1].Nodes, "node"))
		}
		if q.OneSite {
			asked += ", on one site"
		}
		if q.Composed() {
			askedParts(w, q)
		} else {
			w.text(asked)
		}
		bounds := "  submitted " + w.clock(e.Submitted)
		if q.Ready > e.Submitted {
			bounds += ", ready " + w.clock(q.Ready)
		}
		if q.Deadline < grid.Never {
			bounds += ", to end by " + w.clock(q.Deadline)
		}
		w.text(bounds)
		gap := ""
		if e.Gap > 0 {
			gap = span(e.Gap) + " "
		}
		for _, of := range []struct {
			names     []string
			one, more string
		}{{e.After, "that succeeds", "they succeed"}, {e.AfterAny, "that ends, however", "they end, however"}, {e.AfterFailed, "that fails", "they fail"},
			{e.AfterEach, "that succeeds, element by element", "they succeed, element by element"}} {
			if len(of.names) > 1 {
				of.one = of.more
			}
			if len(of.names) > 0 {
				w.line("  comes %safter %s, once %s", gap, strings.Join(of.names, ", "), of.one)
			}
		}
	}
	e.stays(w)
	if e.Elements != "" {
		w.line("  its elements: %s; explain %s[INDEX] says why of one", e.Elements, e.Job)
	}
	if x := e.Earliest; x != nil {
		e.estimate(w, x)
	}
}

// stays says of a window that is yet to begin that nothing moves it by itself, and what does.
// Those of an array's elements are the elements' own, and one that is gathered begins at once.
func (e *Explanation) stays(w *writer) {
	if e.State != grid.JobPlaced.String() || e.Elements != "" || e.gathered {
		return
	}
	if e.Asked.Flexible > 0 {
		w.text("  its window begins no sooner than agreed, even if nodes have become free, and its site may start it up to " + span(e.Asked.Flexible) + " later;")
	} else {
		w.line("  its window stays where it is, even if nodes have become free sooner;")
	}
	if e.Asked.Composed() {
		w.line("  to have another one, cancel it and submit it again")
	} else {
		w.line("  bourse modify %s --deadline 30m asks for one that is over in 30 min", e.Job)
	}
}

func (e *Explanation) estimate(w *writer, x *Estimate) {
	switch {
	case x.None.Refused():
		w.line("  no start can be estimated from the offers of %s: %v", w.clock(x.AsOf), x.None)
	case x.Beyond != "":
		w.line("  an estimate, not a promise: by the offers of %s it could start at %s for %v credits or more, but that passes %s", w.clock(x.AsOf), w.clock(x.Start), x.Cost, x.Beyond)
	default:
		w.line("  an estimate, not a promise: by the offers of %s it could start at %s for %v credits or more, if it were alone", w.clock(x.AsOf), w.clock(x.Start), x.Cost)
	}
}

// offers says what the sites had free.
func (e *Explanation) offers(w *writer) {
	c := e.Cycle
	if c == nil {
		return
	}
	w.line("\nCycle %d at %s, of %d it took part in: %s, least %s; %s, this one served as number %d",
		c.Number, w.clock(c.At), e.Cycles, c.Algorithm, c.least(), grid.Count(c.Batch, "job"), c.Place)
	for i := range c.Sites {
		s := &c.Sites[i]
		switch {
		case s.Reason.Refused():
			w.line("  %-12s %s: %v", s.Name, s.Answer, s.Reason)
		case len(s.Groups) == 0:
			w.line("  %-12s %s", s.Name, s.Answer)
		}
		for k := range s.Groups {
			g := &s.Groups[k]
			name := s.Name
			if k > 0 {
				name = ""
			}
			text := fmt.Sprintf("  %-12s %s: %d of %s free at first, %d at base price of %v a node-hour, performance %v", name, g.Name, g.Free, grid.Count(g.Nodes, "node"), g.Clear, g.Price, g.Performance)
			if g.Suits != "" {
				text = fmt.Sprintf("  %-12s %s: unsuited, %s", name, g.Name, g.Suits)
			}
			w.text(text)
		}
	}
	if c.NotAsked > 0 {
		w.line("  and %s, not asked: their turn had not come (max_asked)", grid.Count(c.NotAsked, "more site"))
	}
}

// alternatives shows the windows that were found.
func (e *Explanation) alternatives(w *writer) {
	c := e.Cycle
	if c == nil {
		return
	}
	if c.Bound.Refused() {
		w.line("  windows were looked for from %s on, not sooner: %s", w.clock(c.NotBefore), c.Bound.Detail)
	}
	if len(c.Options) == 0 {
		if c.Reason.Refused() {
			w.line("  no alternative: %v", c.Reason)
		}
		return
	}
	w.line("\nAlternatives found: %d", c.Found)
	for i := range c.Options {
		o := &c.Options[i]
		mark := " "
		if o.Taken {
			mark = "*"
		}
		parts := fmt.Sprintf("%v base, %v for delay", o.Base, o.Additive)
		if c.Goal != "" {
			parts += fmt.Sprintf("; its wait is worth %v", o.Wait)
		}
		like := ""
		if o.Copies > 0 {
			like = fmt.Sprintf("; %d more like it", o.Copies)
		}
		if o.Bounded {
			like += "; bounded: there may be a better one"
		}
		w.line("%s %3d  %s, takes %s, %v credits (%s): %s%s", mark, o.Number, w.clock(o.Start), span(o.Time), o.Total, parts, w.where(o.Legs), like)
		switch {
		case o.Taken:
			w.line("       taken")
		case o.Number == c.RunnerUp:
			w.line("       runner-up: %s", o.Lost)
		default:
			w.line("       %s", o.Lost)
		}
	}
	if n := c.Found - len(c.Options); n > 0 {
		w.line("       and %d more", n)
	}
	limits := fmt.Sprintf("  the batch cost %v credits", c.BudgetUsed)
	if c.BudgetLimit > 0 {
		limits += fmt.Sprintf(" of B* %v", c.BudgetLimit)
	}
	limits += " and took " + span(c.TimeUsed)
	if c.TimeLimit > 0 {
		limits += " of T* " + span(c.TimeLimit)
	}
	w.line("%s; the VO had %v credits left", limits, c.Left)
	if c.Chosen == 0 && c.Reason.Refused() {
		w.line("  none was chosen: %v", c.Reason)
	}
}

// least says what the cycle had least of, and what the job wanted of it.
func (c *Cycle) least() string {
	switch {
	case c.Goal == "":
		return c.Minimize
	case c.Goal != "value":
		return fmt.Sprintf("value, and of this job %s", c.Goal)
	}
	text := fmt.Sprintf("value (to this job an hour is worth %s)", credits(c.Urgency))
	if c.Weight > 1000 {
		text += fmt.Sprintf(" while money is short (a credit weighs %v)", grid.Performance(c.Weight))
	}
	return text
}

// goals says what the job would have got with each other goal.
func (e *Explanation) goals(w *writer) {
	if e.Cycle == nil || len(e.Cycle.Goals) == 0 {
		return
	}
	w.line("\nWhat another goal would have taken, the rest of its batch as it was")
	for i := range e.Cycle.Goals {
		g := &e.Cycle.Goals[i]
		least := ""
		if g.Guess {
			least = " or more"
		}
		switch {
		case g.Same:
			w.line("  %-7s the same", g.Goal)
		case g.Placed:
			w.line("  %-7s start at %s, end at %s, for %v credits%s", g.Goal, w.clock(g.Start), w.clock(g.End), g.Cost, least)
		default:
			w.line("  %-7s nothing: %v", g.Goal, g.Reason)
		}
	}
}

// where shows the legs of an alternative.
func (w *writer) where(legs []Leg) string {
	list := make([]string, len(legs))
	for i, l := range legs {
		list[i] = fmt.Sprintf("%d of %s/%s", l.Nodes, l.Site, l.Group)
		if l.Part != "" {
			list[i] = fmt.Sprintf("part %s %s at %s", l.Part, list[i], w.clock(l.Start))
		}
	}
	return strings.Join(list, ", ")
}

// became tells the turns.
func (e *Explanation) became(w *writer) {
	if len(e.Turns) == 0 {
		return
	}
	w.line("\nWhat became of it")
	for i, t := range e.Turns {
		if i == firstKept && e.Dropped > 0 {
			w.line("  ... %d left out", e.Dropped)
		}
		text := string(t.Words)
		switch t.What {
		case history.Trying, history.Placed, history.Repaired, history.Moved:
			text += ", from " + w.clock(t.Start) + " on"
		}
		w.line("  %s  %s", w.clock(t.At), text)
	}
}

// changes says what would have changed the answer.
func (e *Explanation) changes(w *writer) {
	if len(e.Changes)+len(e.Tried) == 0 {
		return
	}
	w.line("\nWhat would have changed the answer (each alone, tried on what cycle %d saw)", e.Cycle.Number)
	for i := range e.Changes {
		c := &e.Changes[i]
		least := ""
		if c.Guess {
			least = " or more"
		}
		if c.Placed {
			w.line("  with %s: start at %s, for %v credits%s", c.Words, w.clock(c.Start), c.Cost, least)
		} else {
			w.line("  with %s: not placed, %v", c.Words, c.Reason)
		}
	}
	for _, t := range e.Tried {
		w.line("  %s", t)
	}
}

// credits shows an amount.
func credits(c grid.Credits) string {
	if c == grid.Credit {
		return "1 credit"
	}
	return c.String() + " credits"
}
