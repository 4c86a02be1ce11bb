package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"bourse"
	"bourse/configs"
	"bourse/policy/backfill"
	"bourse/policy/choice"
	"bourse/policy/pricing"
	"bourse/report"
)

// newQuote builds "bourse quote".
func newQuote() *cobra.Command {
	var q quote
	cmd := &cobra.Command{
		Use:   "quote SITE.toml --nodes N --duration D",
		Short: "Price a reservation on a snapshot of a site",
		Long: `Prices a reservation of N nodes for D at every start time worth looking at, or
at one. Base is the plain cost; additive is what the delay of the waiting jobs
costs: node-seconds of planned delay times the delay cost of their queue. Where
a reservation is not feasible the running job or the reservation in its way is
named, or the limit of the operator. Where prices change over time, base is that
of the start, and starts at which they change are among the offers.

Instants are seconds of the snapshot's own clock, or spans since its zero (2h).
With --alpha, --cheapest-before or --within one offer is chosen and marked
("chosen" in JSON, null if none will do); exit status 1 says that none will do.`,
		Example: "  bourse quote site.toml --nodes 16 --duration 2h\n" +
			"  bourse quote site.toml --nodes 16 --duration 2h --alpha 0.3 --policy conservative\n" +
			"  bourse quote site.toml --nodes 16 --duration 2h --start 3600 --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("quote takes one file, the snapshot of a site; %d are given", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			q.given = func(name string) bool { return cmd.Flags().Changed(name) }
			return q.run(args[0], cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.IntVar(&q.nodes, "nodes", 0, "nodes wanted")
	f.StringVar(&q.duration, "duration", "", "how long: 90, 90s, 30m, 2h, 1d")
	f.StringVar(&q.start, "start", "", "price this start only")
	f.StringVar(&q.policy, "policy", "", "fcfs, easy, conservative, reserve=K or first-fit (default that of the site)")
	f.StringVar(&q.group, "group", "", "the group of nodes (default the first that is large enough)")
	f.StringVar(&q.user, "user", "", "who asks, for the operator's limit on users")
	f.BoolVar(&q.more, "more-starts", false, "offer starts too at which the reservation ends when something starts or ends")
	f.StringVar(&q.alpha, "alpha", "", "choose by preference: 0 the earliest start ... 1 the least price")
	f.StringVar(&q.before, "cheapest-before", "", "choose the cheapest that ends by this instant")
	f.StringVar(&q.within, "within", "", "choose the earliest whose whole cost is within this budget, in credits")
	f.BoolVar(&q.pareto, "pareto", false, "show only offers that no other one beats in both start and price")
	f.BoolVar(&q.json, "json", false, "print JSON")
	_ = cmd.MarkFlagRequired("nodes")
	_ = cmd.MarkFlagRequired("duration")
	cmd.MarkFlagsMutuallyExclusive("alpha", "cheapest-before", "within")
	return cmd
}

// quote holds the flags as they were typed.
type quote struct {
	nodes                                int
	duration, start, policy, group, user string
	alpha, before, within                string
	more, pareto, json                   bool
	given                                func(flag string) bool
}

// quoteOffer is one offer as the contract prints it.
type quoteOffer struct {
	Start           bourse.Time      `json:"start"`
	Feasible        bool             `json:"feasible"`
	Base            bourse.Credits   `json:"base"`
	Additive        *bourse.Duration `json:"additive"` // node-seconds; null where not feasible
	AdditiveCredits *bourse.Credits  `json:"additiveCredits"`
	Delayed         []quoteDelay     `json:"delayed"`
	Reason          string           `json:"reason"`
}

type quoteDelay struct {
	Job   string          `json:"job"`
	By    bourse.Duration `json:"by"`
	Nodes int             `json:"nodes"`
}

// run prices, chooses and prints.
func (q *quote) run(file string, out io.Writer) error {
	d, pick, err := q.read()
	if err != nil {
		return err
	}
	snap, err := configs.ReadSite(file)
	if err != nil {
		return err
	}
	if q.policy != "" {
		if snap.Policy, err = backfill.ParsePolicy(q.policy); err != nil {
			return fmt.Errorf("--policy: %w", err)
		}
	}
	group, err := q.findGroup(snap)
	if err != nil {
		return err
	}
	state := groupState(snap, group)
	book := pricing.NewBook()
	book.Reset(state)
	g := &snap.Groups[group]
	offers, err := q.offers(book, state, g, d)
	if err != nil {
		return err
	}
	reasons := q.refuse(offers, book, snap, state, d)
	chosen := -1
	if pick != nil {
		chosen = pick(offers, g)
	}
	shown := make([]int, 0, len(offers))
	if q.pareto {
		shown = choice.Pareto(shown, q.whole(offers, g, d))
	} else {
		for i := range offers {
			shown = append(shown, i)
		}
	}
	list := make([]quoteOffer, len(shown))
	var taken *quoteOffer
	for k, i := range shown {
		list[k] = q.describe(offers[i], reasons[i], book, snap, group, d)
		if i == chosen {
			taken = &list[k]
		}
	}
	if err := q.print(out, list, taken, snap, group, d); err != nil {
		return err
	}
	if pick != nil && taken == nil {
		return failed(errors.New("no offer will do; try a later deadline, a larger budget, fewer nodes or --more-starts"))
	}
	return nil
}

// picker chooses one of the offers, or -1.
type picker func(offers []pricing.Offer, g *bourse.Group) int

// read reads the flags that need no site; pick is nil if no choice is asked for.
func (q *quote) read() (d bourse.Duration, pick picker, err error) {
	if q.nodes < 1 || q.nodes > 1_000_000 {
		return 0, nil, fmt.Errorf("--nodes %d: must be 1 to 1000000", q.nodes)
	}
	if d, err = bourse.ParseDuration(q.duration); err != nil {
		return 0, nil, fmt.Errorf("--duration: %w", err)
	}
	if d == 0 {
		return 0, nil, fmt.Errorf("--duration %q: must be above 0", q.duration)
	}
	switch {
	case q.given("alpha"):
		alpha, err := choice.ParseAlpha(q.alpha)
		if err != nil {
			return 0, nil, fmt.Errorf("--alpha: %w", err)
		}
		pick = func(offers []pricing.Offer, g *bourse.Group) int { return choice.ByAlpha(q.whole(offers, g, d), alpha) }
	case q.given("cheapest-before"):
		deadline, err := readInstant("--cheapest-before", q.before)
		if err != nil {
			return 0, nil, err
		}
		pick = func(offers []pricing.Offer, g *bourse.Group) int {
			return choice.CheapestBefore(q.whole(offers, g, d), d, deadline)
		}
	case q.given("within"):
		budget, err := bourse.ParseCredits(q.within)
		if err != nil {
			return 0, nil, fmt.Errorf("--within: %w", err)
		}
		pick = func(offers []pricing.Offer, g *bourse.Group) int { return q.earliestWithin(offers, g, d, budget) }
	}
	return d, pick, nil
}

// readInstant reads seconds of the site's clock, or a span since its zero.
func readInstant(flag, s string) (bourse.Time, error) {
	t, err := bourse.ParseTime(s)
	if err == nil {
		return t, nil
	}
	d, err := bourse.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%s %q: write an instant in seconds, such as 3600, or a span since zero, such as 1h", flag, s)
	}
	return bourse.Time(d), nil
}

// findGroup is the group named, or the first that is large enough, or the first.
func (q *quote) findGroup(s *configs.Snapshot) (int, error) {
	if q.group == "" {
		return max(0, slices.IndexFunc(s.Groups, func(g bourse.Group) bool { return g.Nodes >= q.nodes })), nil
	}
	names := make([]string, len(s.Groups))
	for i, g := range s.Groups {
		names[i] = g.Name
	}
	if i := slices.Index(names, q.group); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("--group %q: the site has no such group; it has %s", q.group, strings.Join(names, ", "))
}

// groupState is the state of one group of a snapshot; the ID of a job or of a
// reservation is its index in the snapshot's list.
func groupState(snap *configs.Snapshot, group int) *backfill.State {
	nodes := snap.Groups[group].Nodes
	s := &backfill.State{Now: snap.Now, Nodes: nodes, Policy: snap.Policy, Free: bourse.NewProfile(snap.Now, nodes)}
	for i, r := range snap.Running {
		if r.Group == group {
			s.Free.Add(snap.Now, r.End, -r.Nodes)
			s.Running = append(s.Running, backfill.Running{ID: int64(i), Nodes: r.Nodes, Start: r.Start, End: r.End})
		}
	}
	for i, r := range snap.Reserved {
		if r.Group == group {
			s.Free.Add(max(r.Start, snap.Now), r.End, -r.Nodes)
			s.Reserved = append(s.Reserved, backfill.Reserved{ID: int64(i), Nodes: r.Nodes, Start: r.Start, End: r.End})
		}
	}
	for i, j := range snap.Queued {
		if j.Group == group {
			of := snap.Queues[j.Queue]
			s.Queue = append(s.Queue, backfill.Queued{ID: int64(i), Nodes: j.Nodes, Estimate: j.Estimate, Submit: j.Submit,
				Priority: of.Priority, Weight: int64(of.DelayCost), Guarantee: bourse.Never})
		}
	}
	slices.SortStableFunc(s.Running, func(a, b backfill.Running) int { return cmp.Compare(a.End, b.End) })
	slices.SortStableFunc(s.Reserved, func(a, b backfill.Reserved) int { return cmp.Compare(a.Start, b.Start) })
	slices.SortStableFunc(s.Queue, func(a, b backfill.Queued) int { return cmp.Compare(b.Priority, a.Priority) })
	return s
}

// offers prices the start asked for, or all.
func (q *quote) offers(book *pricing.Book, s *backfill.State, g *bourse.Group, d bourse.Duration) ([]pricing.Offer, error) {
	if !q.given("start") {
		return q.changes(book.Offers(q.nodes, d, q.more), book, s, g, d), nil
	}
	at, err := readInstant("--start", q.start)
	if err != nil {
		return nil, err
	}
	f, ok := book.Additive(at, q.nodes, d)
	return []pricing.Offer{{Start: at, Feasible: ok, Additive: f}}, nil
}

// refuse says for each offer why it is not feasible, "" where it is; those that
// an operator's limit forbids become infeasible.
func (q *quote) refuse(offers []pricing.Offer, book *pricing.Book, snap *configs.Snapshot, s *backfill.State, d bourse.Duration) []string {
	limits := snap.Limits.Reservations()
	if !q.given("user") {
		limits.Users = nil
	}
	reasons := make([]string, len(offers))
	for i := range offers {
		o := &offers[i]
		if o.Feasible {
			if r := limits.Check(q.user, s.Now, o.Start, q.nodes, d, s.Nodes, s.Reserved); r.Refused() {
				*o = pricing.Offer{Start: o.Start}
				reasons[i] = r.String()
			}
			continue
		}
		reason := s.Refusal(o.Start, q.nodes, d)
		if reason.Code == bourse.Busy {
			block, _ := s.InTheWay(o.Start, q.nodes, d)
			name := ""
			switch {
			case block.Nodes == 0:
			case block.Reserved:
				name = snap.Reserved[block.ID].Job
			default:
				name = snap.Running[block.ID].Job
			}
			reason = block.Reason(q.nodes, name)
		}
		reasons[i] = reason.String()
	}
	return reasons
}

// describe puts an offer into the form of the contract.
func (q *quote) describe(o pricing.Offer, reason string, book *pricing.Book, snap *configs.Snapshot, group int, d bourse.Duration) quoteOffer {
	g := &snap.Groups[group]
	x := quoteOffer{Start: o.Start, Feasible: o.Feasible, Base: q.base(g, o.Start, d), Delayed: []quoteDelay{}, Reason: reason}
	if !o.Feasible {
		return x
	}
	credits := bourse.Cost(g.Price, o.Additive)
	x.Additive, x.AdditiveCredits = &o.Additive, &credits
	for _, w := range book.Delays(nil, o.Start, q.nodes, d) {
		x.Delayed = append(x.Delayed, quoteDelay{Job: snap.Queued[w.Job].Job, By: w.By, Nodes: w.Nodes})
	}
	return x
}

// print writes the offers; taken is the chosen one, nil if none is.
func (q *quote) print(out io.Writer, list []quoteOffer, taken *quoteOffer, snap *configs.Snapshot, group int, d bourse.Duration) error {
	if q.json {
		if q.given("alpha") || q.given("cheapest-before") || q.given("within") {
			return writeJSON(out, struct {
				Offers []quoteOffer `json:"offers"`
				Chosen *quoteOffer  `json:"chosen"`
			}{list, taken})
		}
		return writeJSON(out, struct {
			Offers []quoteOffer `json:"offers"`
		}{list})
	}
	g := &snap.Groups[group]
	base := fmt.Sprintf("base %v credits", q.base(g, snap.Now, d))
	if g.Curve != nil {
		base = fmt.Sprintf("base by the hour, %v credits now", q.base(g, snap.Now, d))
	}
	fmt.Fprintf(out, "%s for %s on %s/%s at %v, policy %v, %s\n\n",
		nodeCount(q.nodes), d.Words(), snap.Name, g.Name, snap.Now, snap.Policy, base)
	w := report.NewTable("", "start", "additive node-s", "credits", "total", "<delayed, or why not")
	for i := range list {
		o := &list[i]
		mark := ""
		if o == taken {
			mark = "*"
		}
		if !o.Feasible {
			w.AppendRow(table.Row{mark, o.Start, "-", "-", "-", text.WrapSoft(o.Reason, reasonWidth)})
			continue
		}
		w.AppendRow(table.Row{mark, o.Start, *o.Additive, *o.AdditiveCredits, o.Base.Plus(*o.AdditiveCredits), text.WrapSoft(o.delays(), reasonWidth)})
	}
	fmt.Fprintln(out, w.Render())
	if taken != nil {
		fmt.Fprintf(out, "\n* chosen: start %v at %v credits\n", taken.Start, taken.Base.Plus(*taken.AdditiveCredits))
	}
	return nil
}

// reasonWidth is what the words of a quote are wrapped to.
const reasonWidth = 48

// delays says who waits longer, the first few by name.
func (o *quoteOffer) delays() string {
	const named = 4
	var words []string
	for i, x := range o.Delayed {
		if i == named {
			words = append(words, fmt.Sprintf("and %d more", len(o.Delayed)-named))
			break
		}
		words = append(words, fmt.Sprintf("%s (%s) by %s", x.Job, nodeCount(x.Nodes), x.By.Words()))
	}
	return strings.Join(words, ", ")
}

// nodeCount is "1 node", "2 nodes".
func nodeCount(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}
