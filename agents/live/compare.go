package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/agents/wire"
	"github.com/bourse-grid/bourse/grid"
)

// A process that starts with a wrong clock would at once act on it: start and end legs too
// early, or miss their time. So before its agents begin, it asks its peers for the time,
// over the connections that the guard secures, and waits while more of them disagree with
// it than agree. It also waits while its own journal ends later than its clock shows. The
// log and Waiting say what it waits for.
//
// No process knows which clock is right: if two disagree, both wait. A process that no peer
// answers begins after a while, because there is nothing to compare. It waits longer if by
// its clock windows that its agents have sold have passed since its journals end: if that
// clock is ahead, all of them would be lost in its first instant. If it is right, they are
// lost already. A process without any facts has nothing that could be due, and begins at
// once.

// Bounds of the comparison.
const (
	// agreement is how far two clocks may differ. Brokers allow the same for the offers of
	// sites.
	agreement = time.Duration(grid.ClockSkew) * time.Millisecond
	// gather is how long to wait for further peers once the first has answered.
	gather = 2 * time.Second
	// askEvery is how often a peer is asked, askPace how often to look for a peer to ask.
	// An answer counts for freshFor.
	askEvery = time.Second
	askPace  = 50 * time.Millisecond
	freshFor = 5 * time.Second
)

// opinion is how far a peer's clock is ahead of this process's, and how much of that may be
// network delay.
type opinion struct {
	peer  agents.ID
	off   time.Duration
	slack time.Duration
	at    time.Time // monotonic
}

// agrees reports whether the peer's clock may be the same as this one.
func (o *opinion) agrees() bool { return max(o.off, -o.off)-o.slack <= agreement }

// clockQuestion is a ClockRequest under way.
type clockQuestion struct {
	peer agents.ID
	at   time.Time // monotonic
	now  grid.Time
}

// clocks asks other processes for their time, and answers those that ask.
type clocks struct {
	node *Node

	mu       sync.Mutex
	lane     carrier                  // nil: not yet connected
	asked    map[uint64]clockQuestion // by nonce
	opinions map[agents.ID]opinion
	first    time.Time // of the first opinion
	waits    error     // why the agents have not begun; nil if they have
}

func newClocks(n *Node) *clocks {
	c := &clocks{node: n, asked: map[uint64]clockQuestion{}, opinions: map[agents.ID]opinion{}}
	if n.opt.Begins != nil {
		c.waits = errors.New("its clock has not been compared with others' yet")
	}
	return c
}

// connect sets the carrier of questions and answers.
func (c *clocks) connect(lane carrier) {
	c.mu.Lock()
	c.lane = lane
	c.mu.Unlock()
}

// answer tells a peer the time that the agents of this process have, or would have.
func (c *clocks) answer(m *wire.ClockRequest) {
	if c == nil || m.ReplyTo == "" {
		return
	}
	c.mu.Lock()
	lane := c.lane
	c.mu.Unlock()
	host, ok := c.node.opt.Host.(interface{ Now() grid.Time })
	if !ok || lane == nil {
		return
	}
	lane.carry(m.ReplyTo, &wire.ClockReply{From: string(c.node.opt.Name), Nonce: m.Nonce, Now: int64(host.Now())})
}

// heard takes an answer, if this process has asked that peer that question.
func (c *clocks) heard(m *wire.ClockReply) {
	if c == nil || c.node.opt.Begins == nil {
		return
	}
	at, now := time.Now(), c.node.opt.Begins.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	q, ok := c.asked[m.Nonce]
	if !ok || q.peer != agents.ID(m.From) || max(m.Now, -m.Now) > int64(grid.MaxTime) {
		return
	}
	delete(c.asked, m.Nonce)
	took := at.Sub(q.at)
	middle := int64(q.now) + int64(now-q.now)/2
	c.opinions[q.peer] = opinion{peer: q.peer, off: time.Duration(m.Now-middle) * time.Millisecond, slack: took / 2, at: at}
	if c.first.IsZero() {
		c.first = at
	}
}

// ask asks the peers that have not been asked for a while.
func (c *clocks) ask(peers []members.Member, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	recent := map[agents.ID]bool{}
	for nonce, q := range c.asked {
		if now.Sub(q.at) > freshFor {
			delete(c.asked, nonce)
		} else if now.Sub(q.at) < askEvery {
			recent[q.peer] = true
		}
	}
	for _, p := range peers {
		if o, ok := c.opinions[p.Agent]; recent[p.Agent] || ok && now.Sub(o.at) < askEvery {
			continue
		}
		m := &wire.ClockRequest{From: string(c.node.opt.Name), ReplyTo: c.lane.address(), Nonce: nonce()}
		c.asked[m.Nonce] = clockQuestion{p.Agent, now, c.node.opt.Begins.Now()}
		c.lane.carry(p.Address, m)
	}
}

// fresh returns the opinions that still count, in order of the peers' names.
func (c *clocks) fresh(now time.Time) (list []opinion, first time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.opinions {
		if now.Sub(o.at) <= freshFor {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b opinion) int { return cmp.Compare(a.peer, b.peer) })
	return list, c.first
}

// Waiting says why the agents of this process have not begun; nil if they have.
func (n *Node) Waiting() error {
	n.clocks.mu.Lock()
	defer n.clocks.mu.Unlock()
	return n.clocks.waits
}

// Begin lets the agents of NodeOptions.Begins begin once the clock of this process can be
// trusted, and announces that. patience is how long it waits for a first answer; 0 means
// that no peer is asked. long is how long it waits if windows have passed since the
// journals end. It returns early only when ctx ends, with an error.
func (n *Node) Begin(ctx context.Context, patience, long time.Duration) error {
	h, c := n.opt.Begins, n.clocks
	begun := time.Now()
	said, last, heard := "", time.Time{}, true
	for t := time.NewTicker(askPace); ; {
		now := time.Now()
		peers := n.spokenTo()
		if patience > 0 {
			c.ask(peers, now)
		}
		s := situation{latest: h.Latest(), now: h.Now(), peers: n.counted(peers), patience: patience, long: long, waited: now.Sub(begun)}
		if patience > 0 && s.waited >= patience {
			s.passed = h.Passed()
		}
		var first time.Time
		if s.opinions, first = c.fresh(now); !first.IsZero() {
			s.gathered = now.Sub(first)
		}
		kind, why := s.judge()
		if why == nil {
			t.Stop()
			n.opt.Log.Info().Str("clock", kind).Msg("the agents begin")
			heard = kind != alone && kind != undecided
			break
		}
		c.mu.Lock()
		c.waits = why
		c.mu.Unlock()
		if worth := kind != unasked || s.waited > gather; worth && (kind != said || now.Sub(last) >= time.Minute) {
			n.opt.Log.Warn().Msg("the agents wait: " + why.Error())
			said, last = kind, now
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
	}
	if x, ok := n.opt.Host.(*inVO); !ok {
		h.Begin()
	} else if err := x.begin(ctx, h, heard); err != nil {
		return err
	}
	c.mu.Lock()
	c.waits = nil
	c.mu.Unlock()
	if n.opt.Held {
		return nil // Lead announces it later
	}
	if err := n.announce(func(m *members.Member) { m.Flags &^= members.Waiting }); err != nil {
		n.opt.Log.Info().Err(err).Msg("nobody has heard yet that the agents have begun")
	}
	return nil
}

// spokenTo lists the processes that this one talks to, as far as gossip knows them.
func (n *Node) spokenTo() []members.Member {
	own := roleOf(n.opt.Name)
	return slices.DeleteFunc(n.directory.Members(), func(m members.Member) bool { return roleOf(m.Agent) == own || !m.Understood() })
}

// counted returns how many other clocks there may be: those of processes known by gossip,
// and those that a broker expects from an earlier life.
func (n *Node) counted(peers []members.Member) int {
	total := len(peers)
	for _, id := range n.opt.Known {
		if !slices.ContainsFunc(peers, func(m members.Member) bool { return m.Agent == id }) {
			total++
		}
	}
	return total
}

// situation is everything that decides whether the agents may begin.
type situation struct {
	latest   Latest // the last fact of the journals
	now      grid.Time
	opinions []opinion
	peers    int           // peers that might have an opinion
	gathered time.Duration // since the first opinion
	waited   time.Duration
	patience time.Duration
	long     time.Duration // in place of patience, if windows have passed
	passed   int           // windows that passed since the journals end, by this clock
}

// The kinds of answers of judge.
const (
	unasked   = "others are asked"
	disagree  = "others disagree"
	future    = "the journal is of a later time"
	wrongOnce = "the journal is of a later time, and others agree with the clock"
	agreed    = "others agree"
	alone     = "nobody has answered"
	fresh     = "there is nothing that could be due"
	undecided = "as many agree as disagree"
	unwanted  = "nobody is asked"
	cutOff    = "nobody has answered, and windows have passed by this clock"
)

// judge says why the agents must wait, or nil if they may begin, and which kind of answer
// that is.
func (s *situation) judge() (kind string, why error) {
	var with, against []opinion
	for _, o := range s.opinions {
		if o.agrees() {
			with = append(with, o)
		} else {
			against = append(against, o)
		}
	}
	ahead := s.latest.At.Sub(s.now)
	switch {
	case s.latest.Agent == "":
		return fresh, nil
	case len(against) > len(with):
		return disagree, fmt.Errorf("this machine's clock shows %s; %s: set the clock right, here or there, and this process goes on by itself "+
			"(wait = \"0s\" in [clock] has it begin all the same)", stamp(s.now), tell(against))
	case ahead > grid.Duration(agreement/time.Millisecond):
		kind = future
		if len(with) > 0 {
			kind = wrongOnce
		}
		return kind, s.later(ahead, with)
	case 2*len(with) > s.peers, len(with) > len(against) && s.gathered >= gather:
		return agreed, nil
	case s.patience == 0:
		return unwanted, nil
	case s.waited < s.patience:
		return unasked, fmt.Errorf("its clock is compared with others': %d of %d have answered; the agents begin in %s at the latest if no more disagree than agree",
			len(s.opinions), s.peers, (s.patience - s.waited).Round(time.Second))
	case len(with) > 0:
		return undecided, nil
	case s.passed > 0 && s.waited < s.long:
		return cutOff, fmt.Errorf("nobody has answered what time it is. By this machine's clock (%s) %s passed since the journal's last fact (%s), without having begun here: "+
			"if the clock is ahead, all of them are lost as soon as the agents begin. They begin once somebody agrees with the clock, or in %s. If the clock is right, wait = \"0s\" in [clock] has them begin at the next start of the process",
			stamp(s.now), grid.Count(s.passed, "window"), stamp(s.latest.At), (s.long - s.waited).Round(time.Second))
	}
	return alone, nil
}

// later says that a journal ends later than the clock shows, and what to do about it.
func (s *situation) later(ahead grid.Duration, with []opinion) error {
	remedy := "if this clock is right, the journal was written under a wrong one: stop the process and see what bourse journal rebase would change; if it is wrong, set it right"
	if len(with) > 0 {
		remedy = fmt.Sprintf("%s agrees with this clock, so the journal was written under a wrong one: stop the process and see what bourse journal rebase would change", with[0].peer)
	}
	return fmt.Errorf("the journal of %s ends at %s, %s later than this machine's clock shows (%s); %s. Else the process goes on by itself in %s",
		s.latest.Agent, stamp(s.latest.At), about(ahead), stamp(s.now), remedy, about(ahead))
}

// tell lists by how much clocks differ.
func tell(list []opinion) string {
	const most = 3
	var words []string
	for _, o := range list[:min(len(list), most)] {
		d, way := o.off, "ahead of"
		if d < 0 {
			d, way = -d, "behind"
		}
		words = append(words, fmt.Sprintf("that of %s is %s %s it", o.peer, about(grid.Duration(d/time.Millisecond)), way))
	}
	if n := len(list) - most; n > 0 {
		words = append(words, fmt.Sprintf("%d more differ", n))
	}
	return strings.Join(words, ", ")
}

// about formats a duration to the second.
func about(d grid.Duration) string {
	return (time.Duration(d) * time.Millisecond).Round(time.Second).String()
}
