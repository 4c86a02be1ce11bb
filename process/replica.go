package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/agents/replica"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/api"
)

// replicaOf is the name of a member among the replicas of a broker.
func replicaOf(broker string, number int) agents.ID {
	return agents.ID(fmt.Sprintf("replica:%s/%d", broker, number))
}

// replicaProcess is a process that holds a broker together with others.
type replicaProcess struct {
	*process
	cfg       *configs.BrokerProcess
	broker    broker.Config
	self      agents.ID
	committed live.Committed
	peers     *live.Peers
	web       *web.Replicated
	following sync.WaitGroup
	unfollow  context.CancelFunc
	followed  chan struct{} // closed when it does not lead and sends callers to the leader
}

// newReplicaProcess makes a broker's process one of the replicas that hold the broker.
func newReplicaProcess(p *process, cfg *configs.BrokerProcess, agent broker.Config) *replicaProcess {
	agent.TermsStay = true // otherwise each election would bring back the terms from the process's start
	r := &replicaProcess{process: p, cfg: cfg, broker: agent, self: replicaOf(cfg.Name, cfg.Replica.Number),
		unfollow: func() {}, followed: make(chan struct{}, 1)}
	p.held = true
	p.tells = append(p.tells, &replicaMetrics{r})
	return r
}

// run runs the replica until it is told to stop or fails.
func (r *replicaProcess) run(ctx context.Context, serve func(web.Options) (apiServer, error)) error {
	return r.process.run(ctx, among{r: r}, serve, leading{r})
}

// among is the replica among the others: on the host, and connected to them.
type among struct {
	passive
	r *replicaProcess
}

func (a among) begin(ctx context.Context) error {
	err := a.r.begin()
	if err != nil {
		_ = a.r.host.Stop(ctx)
	}
	return err
}

func (a among) end(ctx context.Context) error {
	a.r.peers.Close()
	if ctx.Err() != nil {
		return nil
	}
	return a.r.host.Stop(ctx)
}

// leading is what a process does because its replica leads or not.
type leading struct{ r *replicaProcess }

func (l leading) begin(ctx context.Context) error {
	l.r.follow(ctx)
	return nil
}

func (l leading) ready() error { return l.r.useful() }

func (l leading) end(ctx context.Context) error {
	if ctx.Err() == nil {
		l.r.handOver()
	}
	l.r.unfollow()
	l.r.following.Wait()
	return nil
}

// begin brings the replica to life and connects it to the others.
func (r *replicaProcess) begin() error {
	c := &r.cfg.Replica
	config := replica.Config{Group: r.name, Self: r.self, Joins: c.Joins, New: func() agents.Durable { return broker.New(r.broker) },
		Codec: journal.NewCodec(), Committed: r.committed.Add, Silence: c.Silence, Heartbeat: c.Silence / 10, Stagger: c.Silence / 3}
	others := map[agents.ID]string{}
	for _, m := range c.Members {
		id := replicaOf(r.cfg.Name, m.Number)
		config.Founders = append(config.Founders, id)
		if id != r.self {
			others[id] = m.Address
		}
	}
	folder, err := r.journals.open(r.self)
	if err != nil {
		return err
	}
	if c.Past > 0 {
		config.Past = replicaOf(r.cfg.Name, c.Past)
		if config.Past == r.self {
			if config.Brought, err = r.past(folder); err != nil {
				return err
			}
		}
	}
	if err := r.host.AddReplica(r.name, r.self, replica.New(config), &r.committed, folder, journal.Options{Keep: r.process.cfg.Journal.Keep}); err != nil {
		return err
	}
	o := live.PeersOptions{Self: r.self, Others: others, Host: r.host, Listen: c.Listen.Address, Advertise: c.Listen.Advertise,
		Plain: r.process.cfg.TLS.Plain, Log: r.log}
	if one := r.in[0]; one.store != nil {
		if o.Guard, err = live.NewReplicaGuard(live.GuardOptions{Store: one.store, Log: r.log}, r.self, others); err != nil {
			return err
		}
	}
	r.peers, err = live.StartPeers(o)
	return err
}

// past returns the state of a broker that ran alone before the group took over, unless
// this replica has started before.
func (r *replicaProcess) past(own journal.Disk) (replica.Brought, error) {
	some := errors.New("it has begun")
	_, err := journal.Read(own, journal.NewCodec(), func(journal.Record) error { return some })
	if errors.Is(err, some) {
		return replica.Brought{Agent: broker.New(r.broker)}, nil
	}
	if err != nil {
		return replica.Brought{}, err
	}
	name := r.folder(r.name)
	disk, err := journal.LookInto(name)
	if errors.Is(err, fs.ErrNotExist) {
		return replica.Brought{}, fmt.Errorf("%s: there is no journal of the broker, which replica.past says is here; set past = 0 for a new broker: %w", name, err)
	}
	if err != nil {
		return replica.Brought{}, err
	}
	defer func() { _ = disk.Close() }()
	alone, at := broker.New(r.broker), grid.Time(0)
	facts := 0
	_, err = journal.Read(disk, journal.NewCodec(), func(x journal.Record) error {
		alone.Replay(x.At, x.Fact)
		facts++
		at = max(at, x.At)
		return nil
	})
	r.log.Info().Str("journal", name).Int("facts", facts).Msg("the group takes over the broker that ran alone")
	return replica.Brought{Agent: alone, At: at}, err
}

// leader returns the leader's name and the URL of its API.
func (r *replicaProcess) leader() (name, url string) {
	l, _, err := r.host.Leadership(r.name)
	if err != nil || l.Leader == "" || l.Leader == r.self {
		return "", ""
	}
	_, url = r.where(l.Members, l.Leader)
	return string(l.Leader), url
}

// where returns the address at which other replicas reach a member, and the URL of its
// API: from the file, or else from the group's record.
func (r *replicaProcess) where(members []grid.ReplicaMember, id agents.ID) (address, url string) {
	for _, m := range r.cfg.Replica.Members {
		if replicaOf(r.cfg.Name, m.Number) == id {
			return m.Address, strings.TrimSuffix(m.API, "/")
		}
	}
	for _, m := range members {
		if agents.ID(m.Address) == id {
			return m.Endpoint, strings.TrimSuffix(m.API, "/")
		}
	}
	return "", ""
}

// status returns this replica's view of the group.
func (r *replicaProcess) status(ctx context.Context) (s replica.Status, err error) {
	err = r.host.ViewReplica(ctx, r.name, func(_ grid.Time, a agents.Agent) { s = a.(*replica.Replica).Status() })
	return s, err
}

// replicas returns the state of the group as far as this replica knows it.
func (r *replicaProcess) replicas(ctx context.Context) (api.Replicas, error) {
	s, err := r.status(ctx)
	out := api.Replicas{Here: string(r.self), Leader: string(s.Leader), Term: s.Term, Members: []api.Replica{}}
	for _, m := range s.Members {
		x := api.Replica{Name: m.Address, Role: string(m.Role), Applied: m.Applied, Behind: m.Behind, Reachable: m.Reachable}
		if m.Reachable {
			x.Term = s.Term
		}
		x.Address, x.API = r.where([]grid.ReplicaMember{m.Member}, agents.ID(m.Address))
		out.Members = append(out.Members, x)
	}
	return out, err
}

// handOver passes leadership to another replica, if this one leads, before the process
// ends. Otherwise the others would notice only after a silence that it is gone.
func (r *replicaProcess) handOver() {
	now, _, err := r.host.Leadership(r.name)
	if err != nil || !now.Leads {
		return
	}
	if err := r.host.Tell(r.name, r.name, agents.ReplicaHandOver{}); err != nil {
		r.log.Warn().Err(err).Msg("leadership was not handed over")
		return
	}
	late := time.After(handOverTime)
	for {
		select {
		case <-r.followed:
		case <-late:
			r.log.Warn().Msg("no other replica took over in time; the others will notice that this one is gone")
			return
		}
		if now, _, err := r.host.Leadership(r.name); err != nil || !now.Leads {
			r.log.Info().Str("leader", string(now.Leader)).Msg("leadership handed over")
			return
		}
	}
}

// handOverTime is how long a stopping process waits for another replica to lead. It
// normally takes one message and one vote.
const handOverTime = Patience / 4

// leadAgain is the pause before another attempt to serve the API.
const leadAgain = 200 * time.Millisecond

// follow switches the API and gossip whenever the leader changes, until ctx ends.
func (r *replicaProcess) follow(ctx context.Context) {
	ctx, r.unfollow = context.WithCancel(context.WithoutCancel(ctx)) // it must run on while the process hands over
	told := make(chan live.Leadership, 1)
	r.following.Go(func() { r.announce(ctx, told) })
	r.following.Go(func() { r.watchLost(ctx) })
	r.following.Go(func() {
		var is live.Leadership
		for {
			var again <-chan time.Time
			now, changed, err := r.host.Leadership(r.name)
			if err != nil {
				return
			}
			if now.Leads != is.Leads || now.Leads && now.Term != is.Term {
				select { // only the latest counts
				case <-told:
				default:
				}
				told <- now
				if now.Leads {
					r.following.Go(func() { r.takeTerms(ctx) })
				}
				if is = now; !now.Leads && r.web != nil {
					r.web.Follow()
				} else if r.web != nil {
					if err := r.web.Lead(); err != nil {
						r.log.Warn().Err(err).Msg("this replica cannot serve the API")
						is, again = live.Leadership{}, time.After(leadAgain)
					}
				}
				if !now.Leads {
					select {
					case r.followed <- struct{}{}:
					default:
					}
				}
			}
			select {
			case <-changed:
			case <-again:
			case <-ctx.Done():
				return
			}
		}
	})
}

// takeTerms applies the terms of users and tenants in this process's file, because it
// leads now. Until then the terms of the previous leader apply.
func (r *replicaProcess) takeTerms(ctx context.Context) {
	r.reloads.mu.Lock()
	defer r.reloads.mu.Unlock()
	if _, err := r.reloads.again(ctx, api.ReloadWish{}); err != nil {
		r.log.Error().Err(err).Msg("the terms of users and tenants on record still apply")
	}
}

// announce tells gossip whenever the leader changes.
func (r *replicaProcess) announce(ctx context.Context, told <-chan live.Leadership) {
	for {
		select {
		case <-ctx.Done():
			return
		case l := <-told:
			var known []agents.ID
			if l.Leads {
				err := r.host.View(ctx, r.name, func(_ grid.Time, a agents.Agent) {
					for s := range a.(*broker.Broker).Sites() {
						if s.Member {
							known = append(known, s.Address)
						}
					}
				})
				if err != nil {
					continue // no longer the leader
				}
			}
			if err := r.in[0].node.Lead(l.Term, l.Leads, known); err != nil {
				r.log.Info().Err(err).Msg("no peer has heard yet who leads")
			}
		}
	}
}
