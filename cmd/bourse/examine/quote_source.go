package examine

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/formula"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/process"
)

// quoted is the subject of a quote: a group's queue, with names for what is in it.
type quoted struct {
	site            string
	group           grid.Group
	state           *backfill.State
	limits          pricing.Limits
	zero            grid.Time // spans count from here
	running, queued func(id int64) string
	reserved        func(*backfill.Reserved) string
	clock           func(grid.Time) string // shows an instant
	twin            *twinPrices            // of Slurm's own rules; nil: by the policy of the state
	barred          string                 // why no job of this size can start at any time; "" if one can
}

// of reads the subject of the quote: a live cluster, a saved look, or the snapshot of a
// site.
func (q *quote) of(ctx context.Context, args []string) (*quoted, error) {
	if q.live.slurm {
		look, err := q.live.look(ctx)
		if err != nil {
			return nil, err
		}
		q.live.rules(ctx, look)
		return q.ofLook(look)
	}
	if args[0] == "-" && q.site == nil || isLook(args[0]) {
		look, err := input.ReadLook(args[0], q.in)
		err = flags.OfKind(args[0], kinds.Look, err)
		if err != nil {
			return nil, err
		}
		return q.ofLook(look)
	}
	for _, live := range []string{"partition", "price"} {
		if q.given(live) {
			return nil, fmt.Errorf("--%s is for the snapshot of a live cluster; %s itself describes its nodes", live, args[0])
		}
	}
	if err := policyOf(q.policy, args[0]); err != nil {
		return nil, err
	}
	var snap *configs.Snapshot
	var err error
	if q.site != nil {
		snap, err = configs.ParseSite(stdin, q.site)
	} else {
		snap, err = configs.ReadSite(args[0])
	}
	if err != nil {
		return nil, err
	}
	return q.ofSite(snap)
}

const (
	stdin     = "standard input" // in messages
	mostStdin = 16 << 20         // bytes of it, other than a look
)

// look says what a file holds. Of the standard input, which cannot be read twice, it keeps what
// it has read.
func (q *quote) look(file string, in io.Reader) (kinds.Kind, error) {
	if file != "-" {
		return flags.KindOfFile(file), flags.FileThere(file)
	}
	begin := bufio.NewReader(in)
	q.in = begin
	if head, err := begin.Peek(512); err != nil && err != io.EOF {
		return kinds.Unknown, fmt.Errorf("%s: %w", stdin, err)
	} else if jsonBegins(head) {
		return kinds.Look, nil // which may be large
	}
	text, err := io.ReadAll(io.LimitReader(begin, mostStdin+1))
	switch {
	case err != nil:
		return kinds.Unknown, fmt.Errorf("%s: %w", stdin, err)
	case len(text) > mostStdin:
		return kinds.Unknown, fmt.Errorf("%s: larger than %d MiB; give a file", stdin, mostStdin>>20)
	}
	q.in = bytes.NewReader(text)
	kind := kinds.Of(text)
	if kind == kinds.Site {
		q.site = text
	}
	return kind, nil
}

// ofJobs reports whether what a file holds are jobs, or is meant to be: where nothing is asked for
// that is only of a snapshot, a file of no known kind is read as a batch, which says what is wrong.
func (q *quote) ofJobs(kind kinds.Kind, file string) bool {
	meant := kind == kinds.Unknown && !q.given("nodes") && !q.given("duration") && (file == "-" || strings.HasSuffix(file, ".toml"))
	return kind == kinds.Batch || kind == kinds.Script || meant
}

// isLook reports whether a file is a look: TOML does not begin like a JSON object. It is
// false for a file that cannot be read; reading it again yields the error.
func isLook(name string) bool {
	json, err := looksLikeJSON(name)
	return err == nil && json
}

// ofSite takes the queue of a group from a site's snapshot.
func (q *quote) ofSite(snap *configs.Snapshot) (*quoted, error) {
	if q.policy != nil {
		snap.Policy = q.policy.Policy
	}
	group, err := q.findGroup(snap)
	if err != nil {
		return nil, err
	}
	return &quoted{
		barred: q.lacks(&snap.Groups[group]), site: snap.Name, group: snap.Groups[group], state: groupState(snap, group), limits: snap.Limits.Reservations(),
		running:  func(id int64) string { return snap.Running[id].Job },
		queued:   func(id int64) string { return snap.Queued[id].Job },
		reserved: func(r *backfill.Reserved) string { return snap.Reserved[r.ID].Job },
		clock:    grid.Time.String,
	}, nil
}

// ofLook takes the queue of a live cluster from a look.
func (q *quote) ofLook(look *grid.Look) (*quoted, error) {
	if q.given("user") {
		return nil, errors.New("--user applies to a site operator's limits; the snapshot of a cluster has none")
	}
	if !q.portion.Whole() {
		return nil, errors.New("the snapshot of a cluster does not say how a site divides its nodes; quote a part of a node from a site's own snapshot")
	}
	policy := livePolicy()
	if q.policy != nil && !q.policy.Slurm {
		policy = q.policy.Policy
	}
	q.live.group = q.group
	live, err := q.live.queue(look, policy)
	if err != nil {
		return nil, err
	}
	live.group.Price = q.price
	if !q.json {
		q.notes = live.notes()
	}
	of := &quoted{
		site: look.Source, group: live.group, state: &live.state, zero: look.At,
		running: live.called, queued: live.called, reserved: live.taken, clock: process.TimeOfDay,
	}
	if err := live.refuses(q.nodes, q.duration); err != nil {
		of.barred = err.Error()
	}
	if err := q.bySlurm(of, live); err != nil {
		return nil, err
	}
	if of.twin != nil {
		q.notes = nil // of what the policy of the state cannot know
	}
	return of, nil
}

// prices makes what prices the queue.
func (of *quoted) prices(state *backfill.State) pricer {
	if of.twin != nil {
		return of.twin
	}
	book := pricing.NewBook()
	book.Reset(state)
	return book
}

// policy is how the queue is served, in words.
func (of *quoted) policy() string {
	if of.twin != nil {
		return "slurm"
	}
	return of.state.Policy.String()
}

// findGroup returns the named group, or else the first that is large enough, or else the
// first.
func (q *quote) findGroup(s *configs.Snapshot) (int, error) {
	if q.group == "" {
		return max(0, slices.IndexFunc(s.Groups, func(g grid.Group) bool { return g.Nodes >= q.nodes && q.lacks(&g) == "" })), nil
	}
	names := make([]string, len(s.Groups))
	for i, g := range s.Groups {
		names[i] = g.Name
	}
	if i := slices.Index(names, q.group); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("--group %q: no such group; the site has %s", q.group, strings.Join(names, ", "))
}

// groupState is the state of one group of a snapshot; the ID of a job or of a
// reservation is its index in the snapshot's list.
func groupState(snap *configs.Snapshot, group int) *backfill.State {
	nodes := snap.Groups[group].Nodes
	s := &backfill.State{Now: snap.Now, Nodes: nodes, Policy: snap.Policy, Free: grid.NewProfile(snap.Now, nodes)}
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
				Priority: of.Priority, Weight: int64(of.DelayCost), Guarantee: grid.Never})
		}
	}
	slices.SortStableFunc(s.Running, func(a, b backfill.Running) int { return cmp.Compare(a.End, b.End) })
	slices.SortStableFunc(s.Reserved, func(a, b backfill.Reserved) int { return cmp.Compare(a.Start, b.Start) })
	slices.SortStableFunc(s.Queue, func(a, b backfill.Queued) int { return cmp.Compare(b.Priority, a.Priority) })
	s.Rank(0, func(q *backfill.Queued, v *formula.Values) { v[formula.Queue] = float64(snap.Queued[q.ID].Queue) })
	return s
}

// words is the text of a reason, with instants shown by the clock.
func (of *quoted) words(r grid.Reason) string { return grid.Phrase(r.String()).In(of.clock) }

// inTheWay names the work that is in the way.
func (of *quoted) inTheWay(block backfill.Block) string {
	switch {
	case block.Nodes == 0:
		return ""
	case block.Reserved:
		i := slices.IndexFunc(of.state.Reserved, func(r backfill.Reserved) bool { return r.ID == block.ID })
		return of.reserved(&of.state.Reserved[i])
	}
	return of.running(block.ID)
}
