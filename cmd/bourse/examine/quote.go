package examine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
)

// newQuote builds "bourse quote".
func newQuote(dry DryRun) *cobra.Command {
	var q quote
	cmd := &cobra.Command{
		Use:   "quote BATCH.toml | SNAPSHOT|--slurm --nodes N --duration D",
		Short: "Say what a batch would get, or price a reservation",
		Long: `Of a batch or a script, as bourse submit takes them, it says what its jobs would get
from a federation: when, where and for how much, and what half an hour later or other
sites would cost. The broker asks its sites; nothing is submitted and nothing is held.
"-" is the standard input: a batch, a script or a snapshot, known by what it holds.

Of a snapshot it prices a reservation of N nodes for D at every start time worth considering, or at
one. Base is the plain cost. Additive is the cost of delaying the waiting jobs:
node-seconds of planned delay times the delay cost of their queue. If a reservation
is not feasible, quote names the running job, the reservation or the operator's
limit that is in the way. If prices change over time, base follows them, and the
starts at which they change are among the offers.

Where the site divides its nodes, a reservation may be of a part of each node, by
--gpus-per-node and the like. It pays for its slices and, as nobody has opened a node
for it in a snapshot, delays what whole nodes would.

Times are seconds by the snapshot's own clock, or spans since its zero (2h).

With --slurm the snapshot is taken of a live cluster; you can also give one that
bourse snapshot has saved. Nothing is changed there, and no rights are needed. Every job is assumed to run to its limit, and nodes cost --price.
Times are then seconds since 1970, or spans since the snapshot.

With --alpha, --cheapest-before or --within, one offer is chosen and marked
("chosen" in JSON, null if none is suitable). Exit status 1 if none is suitable.`,
		Example: "  bourse quote jobs.toml\n" +
			"  bourse quote snapshot.toml --nodes 16 --duration 2h\n" +
			"  bourse quote snapshot.toml --nodes 16 --duration 2h --alpha 0.3 \\\n      --policy conservative\n" +
			"  bourse quote snapshot.toml --nodes 16 --duration 2h --start 3600 --json\n" +
			"  bourse quote --slurm --partition batch --nodes 16 --duration 2h --alpha 0",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 0 && !q.live.slurm {
				return fmt.Errorf("quote takes one file (the snapshot of a site, TOML, or of a cluster, JSON) or --slurm; %d files given", len(args))
			}
			return flags.MissingFirst(q.live.check(len(args)), args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return q.begin(cmd, args, dry) },
	}
	f := cmd.Flags()
	flags.AddFlag(cmd, &q.nodes, flags.AsNumber, "nodes", 0, "number of nodes")
	flags.AddFlag(cmd, &q.duration, flags.AsSpan, "duration", 0, "how long: 90, 90s, 30m, 2h, 1d")
	flags.AddFlag(cmd, &q.start, flags.Optional(flags.AsInstant), "start", nil, "price this start only")
	q.live.add(cmd)
	flags.AddFlag(cmd, &q.price, flags.AsPrice, "price", grid.Price(grid.Credit), "credits per node-hour of a live cluster's nodes")
	flags.AddFlag(cmd, &q.policy, flags.Optional(flags.AsReplayed), "policy", nil, names.Or(flags.ReplayedPolicies())+" (default: the site's; live: slurm, if the snapshot has its rules, else "+livePolicy().String()+")")
	flags.AddFlag(cmd, &q.group, flags.AsName, "group", "", "group of nodes (default: the first that is large enough); live: a group of the partition's nodes (default: any)")
	addPortion(cmd, &q.portion, "where the site divides nodes (default: whole nodes)")
	flags.AddFlag(cmd, &q.user, flags.AsName, "user", "", "user, for the operator's limit per user")
	f.BoolVar(&q.more, "more-starts", false, "also offer starts at which the reservation ends just when other work starts or ends")
	q.addChoice(cmd)
	f.BoolVar(&q.pareto, "pareto", false, "show only offers that no other offer beats in both start and price")
	f.BoolVar(&q.json, "json", false, "print JSON")
	flags.AddFlag(cmd, &q.context, flags.AsContext, "context", "", "for a batch: context file of the federation")
	return cmd
}

// begin finds out what is to be quoted, and quotes it.
func (q *quote) begin(cmd *cobra.Command, args []string, dry DryRun) error {
	q.given = func(name string) bool { return cmd.Flags().Changed(name) }
	if len(args) == 1 {
		kind, err := q.look(args[0], cmd.InOrStdin())
		if err != nil {
			return err
		}
		if q.ofJobs(kind, args[0]) {
			return q.foresee(cmd, args[0], kind, dry)
		}
	}
	if err := flags.MissingFirst(q.need(), args); err != nil {
		return err
	}
	return q.run(cmd.Context(), args, cmd.OutOrStdout())
}

// addChoice adds the flags by which one of the offers is chosen.
func (q *quote) addChoice(cmd *cobra.Command) {
	flags.AddFlag(cmd, &q.alpha, flags.Optional(flags.AsAlpha), "alpha", nil, "choose by preference, from 0 (earliest start) to 1 (lowest price)")
	flags.AddFlag(cmd, &q.before, flags.Optional(flags.AsInstant), "cheapest-before", nil, "choose the cheapest that ends by this time")
	flags.AddFlag(cmd, &q.within, flags.Optional(flags.AsCredits), "within", nil, "choose the earliest whose total is within this budget, in credits")
	cmd.MarkFlagsMutuallyExclusive("alpha", "cheapest-before", "within")
}

// quote holds the flags.
type quote struct {
	live               lookFlags
	nodes              int
	portion            grid.Portion // of each node
	duration           grid.Duration
	start, before      *flags.Instant
	policy             *flags.Replayed
	price              grid.Price
	alpha              *choice.Alpha
	within             *grid.Credits
	group, user        string
	context            string
	more, pareto, json bool
	given              func(flag string) bool
	in                 io.Reader // what "-" reads
	site               []byte    // a site's snapshot from there; nil: a look
	notes              []string  // on the queue, for people
}

// ofBatches are the flags that a dry run takes.
var ofBatches = []string{"json", "context"}

// foresee is quote of a batch.
func (q *quote) foresee(cmd *cobra.Command, file string, kind kinds.Kind, dry DryRun) error {
	var idle error
	name := file
	if file == "-" {
		name = stdin
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if idle == nil && !slices.Contains(ofBatches, f.Name) {
			idle = fmt.Errorf("%s: %s. Without --%s, quote says what its jobs would get", name, kinds.Wrong(kind, kinds.Site), f.Name)
		}
	})
	if idle != nil {
		return idle
	}
	return dry(cmd.Context(), file, flags.Calling{Context: q.context, JSON: q.json}, q.in, cmd.OutOrStdout(), cmd.ErrOrStderr())
}

// need refuses the quote of a snapshot that lacks what is to be reserved.
func (q *quote) need() error {
	if err := required(q.given, "duration", "nodes"); err != nil {
		return err
	}
	if q.given("context") {
		return errors.New("--context has no effect on a snapshot; leave it out")
	}
	return nil
}

// quoteOffer is the printed form of an offer.
type quoteOffer struct {
	Start           grid.Time      `json:"start"`
	Feasible        bool           `json:"feasible"`
	Base            grid.Credits   `json:"base"`
	Additive        *grid.Duration `json:"additive"` // node-seconds; null if not feasible
	AdditiveCredits *grid.Credits  `json:"additiveCredits"`
	GPUHour         *grid.Credits  `json:"gpuHour,omitempty"` // base and additive part, for one GPU
	Delayed         []quoteDelay   `json:"delayed"`
	Reason          string         `json:"reason"`
}

type quoteDelay struct {
	Job   string        `json:"job"`
	By    grid.Duration `json:"by"`
	Nodes int           `json:"nodes"`
}

// run prices, chooses and prints.
func (q *quote) run(ctx context.Context, args []string, out io.Writer) error {
	if q.nodes < 1 || q.nodes > input.MaxNodes {
		return fmt.Errorf("--nodes %d: must be 1 to %d", q.nodes, input.MaxNodes)
	}
	if err := checkPortion(&q.portion, q.given); err != nil {
		return err
	}
	d := q.duration
	of, err := q.of(ctx, args)
	if err != nil {
		return err
	}
	pick := q.picker(d, of.zero)
	state := of.state
	book := of.prices(state)
	g := &of.group
	offers := q.offers(book, of, d)
	reasons := q.refuse(offers, of, d)
	chosen := -1
	if pick != nil {
		chosen = pick(offers, g)
	}
	shown := make([]int, 0, len(offers))
	if q.pareto {
		shown = choice.Pareto(shown, q.whole(offers, g, d))
	}
	if len(shown) == 0 { // all, or none is feasible: then each says why
		for i := range offers {
			shown = append(shown, i)
		}
	}
	list := make([]quoteOffer, len(shown))
	var taken *quoteOffer
	for k, i := range shown {
		list[k] = q.describe(offers[i], reasons[i], book, of, d)
		if i == chosen {
			taken = &list[k]
		}
	}
	if err := q.print(out, list, taken, of, d); err != nil {
		return err
	}
	if pick != nil && taken == nil {
		return failure.Of(errors.New("no offer is suitable; try a later deadline, a larger budget, fewer nodes or --more-starts"))
	}
	return nil
}

// picker chooses one of the offers, or -1.
type picker func(offers []pricing.Offer, g *grid.Group) int

// picker returns the way to choose; nil if no flag asks for a choice.
func (q *quote) picker(d grid.Duration, zero grid.Time) picker {
	switch {
	case q.alpha != nil:
		return func(offers []pricing.Offer, g *grid.Group) int {
			return choice.ByAlpha(q.whole(offers, g, d), *q.alpha)
		}
	case q.before != nil:
		return func(offers []pricing.Offer, g *grid.Group) int {
			return choice.CheapestBefore(q.whole(offers, g, d), d, q.before.From(zero))
		}
	case q.within != nil:
		return func(offers []pricing.Offer, g *grid.Group) int { return q.earliestWithin(offers, g, d, *q.within) }
	}
	return nil
}

// offers prices the given start, or all starts. Where there is none, it is now, which refuse
// says the reason for.
func (q *quote) offers(book pricer, of *quoted, d grid.Duration) []pricing.Offer {
	if q.start == nil {
		list := q.changes(book.Offers(q.nodes, d, q.more), book, of.state, &of.group, d)
		if len(list) == 0 {
			list = []pricing.Offer{{Start: of.state.Now}}
		}
		return list
	}
	at := q.start.From(of.zero)
	f, ok := book.Additive(at, q.nodes, d)
	return []pricing.Offer{{Start: at, Feasible: ok, Additive: f}}
}

// refuse returns for each offer why it is not feasible, "" if it is. Offers that an
// operator's limit or the partition forbids become infeasible.
func (q *quote) refuse(offers []pricing.Offer, of *quoted, d grid.Duration) []string {
	limits, s := of.limits, of.state
	if !q.given("user") {
		limits.Users = nil
	}
	reasons := make([]string, len(offers))
	for i := range offers {
		o := &offers[i]
		if of.barred != "" {
			*o, reasons[i] = pricing.Offer{Start: o.Start}, of.barred
			continue
		}
		if o.Feasible {
			if r := limits.Check(q.user, s.Now, o.Start, q.nodes, d, s.Nodes, s.Reserved); r.Refused() {
				*o = pricing.Offer{Start: o.Start}
				reasons[i] = of.words(r)
			}
			continue
		}
		reason := s.Refusal(o.Start, q.nodes, d)
		if reason.Code == grid.Busy {
			block, _ := s.InTheWay(o.Start, q.nodes, d)
			reason = block.Reason(q.nodes, of.inTheWay(block))
		}
		if reasons[i] = of.words(reason); reasons[i] == "" {
			reasons[i] = "no nodes are free for all of it" // each of them for a part
		}
	}
	return reasons
}

// describe makes the printed form of an offer.
func (q *quote) describe(o pricing.Offer, reason string, book pricer, of *quoted, d grid.Duration) quoteOffer {
	g := &of.group
	x := quoteOffer{Start: o.Start, Feasible: o.Feasible, Base: q.base(g, o.Start, d), Delayed: []quoteDelay{}, Reason: reason}
	if !o.Feasible {
		return x
	}
	credits := grid.Cost(g.Price, o.Additive)
	x.Additive, x.AdditiveCredits, x.GPUHour = &o.Additive, &credits, q.gpuHour(x.Base.Plus(credits), d)
	for _, w := range book.Delays(nil, o.Start, q.nodes, d) {
		x.Delayed = append(x.Delayed, quoteDelay{Job: of.queued(w.Job), By: w.By, Nodes: w.Nodes})
	}
	return x
}

// print writes the offers; taken is the chosen one or nil.
func (q *quote) print(out io.Writer, list []quoteOffer, taken *quoteOffer, of *quoted, d grid.Duration) error {
	var waits waitingJobs
	if of.twin != nil {
		waits = waitingOf((&twinQueue{Queue: of.twin.queue}).waiting(of.group.Name))
	}
	if q.json {
		if q.alpha != nil || q.before != nil || q.within != nil {
			return flags.WriteJSON(out, struct {
				Offers []quoteOffer `json:"offers"`
				Chosen *quoteOffer  `json:"chosen"`
				waitingJobs
			}{list, taken, waits})
		}
		return flags.WriteJSON(out, struct {
			Offers []quoteOffer `json:"offers"`
			waitingJobs
		}{list, waits})
	}
	g, now := &of.group, of.state.Now
	base := fmt.Sprintf("base %v credits", q.base(g, now, d))
	if g.Curve != nil {
		base = fmt.Sprintf("base by the hour, %v credits now", q.base(g, now, d))
	}
	head := fmt.Sprintf("%s for %s on %s/%s at %s, policy %v, %s",
		grid.Count(q.nodes, "node")+q.ofEach(g), d.Words(), of.site, g.Name, of.clock(now), of.policy(), base)
	_ = display.Folded(out, head)
	fmt.Fprintln(out)
	fmt.Fprintln(out, quoteTable(list, taken, of.clock).Render())
	if err := printQueue(out, waits.Queue); err != nil {
		return err
	}
	for _, n := range append(waits.notes(), q.notes...) {
		fmt.Fprintf(out, "\n%s\n", text.WrapSoft(n, display.TableWidth-5))
	}
	if taken != nil {
		fmt.Fprintf(out, "\n* chosen: start %v at %v credits%s\n", of.clock(taken.Start), taken.Base.Plus(*taken.AdditiveCredits), taken.byGPU())
	}
	return nil
}

// reasonWidth is the width for the reasons in a quote, and leastReason where there is less room.
const (
	reasonWidth = 48
	leastReason = 16
)

// quoteTable is the table of offers, with as much room for reasons as the other columns leave.
func quoteTable(list []quoteOffer, taken *quoteOffer, clock func(grid.Time) string) table.Writer {
	for width := reasonWidth; ; width-- {
		w := report.NewTable("", "start", "additive node-s", "credits", "total", "<delayed, or why not")
		for i := range list {
			o := &list[i]
			mark := ""
			if o == taken {
				mark = "*"
			}
			if !o.Feasible {
				w.AppendRow(table.Row{mark, clock(o.Start), "-", "-", "-", text.WrapSoft(grid.Rounded(o.Reason), width)})
				continue
			}
			w.AppendRow(table.Row{mark, clock(o.Start), *o.Additive, *o.AdditiveCredits, o.Base.Plus(*o.AdditiveCredits), text.WrapSoft(o.delays(), width)})
		}
		if width == leastReason || text.LongestLineLen(report.Unfitted(w)) <= display.TableWidth {
			return w
		}
	}
}

// delays lists the jobs that wait longer, the first few by name.
func (o *quoteOffer) delays() string {
	const named = 4
	var words []string
	for i, x := range o.Delayed {
		if i == named {
			words = append(words, fmt.Sprintf("and %d more", len(o.Delayed)-named))
			break
		}
		words = append(words, fmt.Sprintf("%s (%s) by %s", x.Job, grid.Count(x.Nodes, "node"), x.By.Roughly()))
	}
	return strings.Join(words, ", ")
}
