// Package process hosts agents on a machine: a site with its cluster, or the broker of a VO,
// alone or as one of several replicas, with journals, the wire, gossip, the API, metrics and
// what a signal changes. It reads clocks, files and the network; the agents do not. It makes
// no simulation: the nodes of a simulated cluster are handed in.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/local/supervisor"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/sites"
	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/api"
)

// Patience is how long a process that is told to stop has to finish what its agents have
// begun.
const Patience = 20 * time.Second

// Options are what a process gets from the program that it is part of.
type Options struct {
	Stderr io.Writer // the log
	Child  io.Reader // of a child process: its end means stop; nil: not a child
	// Supervisor is the word after which this program supervises the work of one leg, for
	// sites of kind local.
	Supervisor string
	Force      bool // a site may start by a file that takes nodes away from legs
	// Simulated makes the settings of a site's simulated cluster and returns remarks for the
	// operator. It may change the agent's configuration.
	Simulated func(*configs.SiteProcess, *sites.Config) (nodes cluster.Nodes, remarks []string, err error)
}

// process is the common part of the processes of sites and brokers: a host with its
// agents, their journals, the nodes through which others reach it, the API.
type process struct {
	cfg      *configs.Process
	name     agents.ID // of the agent that others talk to
	log      zerolog.Logger
	store    *certificate.Store // of the API; nil: plain text on loopback
	host     *live.Host
	parts    parts
	journals journals
	reloads  reloads

	in       []*membership // at least one; members hands it out
	changing sync.Mutex    // guards in
	vos      *live.VOs     // between the host and several VOs; nil: there is only one
	known    []agents.ID   // sites that a broker remembers
	held     bool          // it is one of the replicas that hold the agent

	lacks   func() error               // what it cannot serve without, although its agents live
	unready atomic.Bool                // it has said that it is not ready, and not yet that it is
	tells   []prometheus.Collector     // further metrics
	token   atomic.Pointer[web.Tokens] // tokens that the API accepts beside certificates; nil: none
	child   io.Reader                  // of a child process: its end means stop; nil: not a child
	learned *learned                   // by a site's forecasts; nil: it makes none
}

// run starts the process and keeps it going until it is told to stop or fails. agents puts
// its agents on the host, serve makes its API; the further parts begin after the API.
func (p *process) run(ctx context.Context, agents part, serve func(web.Options) (apiServer, error), further ...part) error {
	ctx, unhook := p.untilTold(ctx)
	defer unhook()
	hangups := p.hangups() // a SIGHUP before the agents have begun waits for them
	defer signal.Stop(hangups)
	listener, err := p.listen()
	if err != nil {
		return failure.Of(err)
	}
	if listener != nil {
		defer func() { _ = listener.Close() }()
	}
	tuned := os.Getenv("GOGC") == ""
	if tuned {
		debug.SetGCPercent(gcPercent(0))
	}
	debug.SetTraceback("crash") // a panic ends the process by a signal: exit status 2 would mean a bad file
	p.host = live.NewHost(live.Options{Log: p.log, Now: WallClock, Wait: true})
	answers := &answering{p: p, make: serve, listener: listener, served: make(chan error, 1)}
	p.parts = slices.Concat(parts{&p.journals, agents, joined{p}, answers}, further, parts{begun{p: p}, &p.reloads})
	if p.parts, err = p.parts.begin(ctx); err != nil {
		if ctx.Err() != nil {
			err = nil // it was told to stop
		}
		if err = errors.Join(err, p.leave()); errors.As(err, &unusable{}) {
			return err
		}
		return failure.Of(err)
	}
	debug.FreeOSMemory() // the replay takes several times the memory of its result
	if tuned {
		tuneCollector(ctx)
	}
	in := p.members()
	for _, m := range in[1:] {
		p.log.Info().Str("vo", m.vo).Str("agents", m.node.Address()).Str("gossip", m.node.Gossip()).Msg("this VO is served")
	}
	p.announce(p.lacks())
	return p.goOn(ctx, unhook, hangups, answers.served)
}

// announce says that others can use the agents, or that they can not yet, and why.
func (p *process) announce(lacks error) {
	line, words := p.log.Info(), "ready"
	if lacks != nil {
		line, words = p.log.Warn().Err(lacks), "serving, but not ready"
	}
	p.unready.Store(lacks != nil)
	if in := p.members(); len(in) > 0 {
		line = line.Str("agents", in[0].node.Address()).Str("gossip", in[0].node.Gossip()).Str("api", p.apiURL())
	}
	line.Msg(words)
}

// goOn keeps the process going until it is told to stop or fails.
func (p *process) goOn(ctx context.Context, unhook func(), hangups <-chan os.Signal, served <-chan error) error {
	for {
		select {
		case <-ctx.Done():
			unhook() // a second signal ends the process at once
			p.log.Info().Msg("stopping")
			return failure.Of(p.leave())
		case <-hangups:
			_, _ = p.reload(ctx, api.ReloadWish{}) // it logs its error
		case err := <-p.host.Failed():
			p.log.Error().Err(err).Msg("the process cannot go on; its next life replays the journal")
			p.abandon()
			return failure.Of(err)
		case err := <-p.journals.fence:
			p.log.Error().Err(err).Msg("the process stops without telling its peers")
			p.abandon()
			return failure.Of(err)
		case err := <-served:
			return failure.Of(errors.Join(err, p.leave()))
		case m := <-p.superseded():
			err := fmt.Errorf("a later process of %s answers at %s with this agent's certificate (life %d), and two must not act for one broker: this one stops. Find out who started it twice; jobs that only this one has taken are in its journal, %s",
				m.Agent, m.Address, m.Life, p.folder(p.name))
			p.log.Error().Str("address", m.Address).Uint64("life", m.Life).Msg(err.Error())
			p.noteDisplaced(m)
			p.abandon()
			return failure.Of(err)
		}
	}
}

// superseded receives a later process with the same broker's name. For sites it is nil:
// the later process may be the wrong one, and the protocol cannot tell, so that case is
// logged and left to the operator.
func (p *process) superseded() <-chan members.Member {
	if strings.HasPrefix(string(p.name), "broker:") && !p.held {
		return p.in[0].node.Superseded()
	}
	return nil
}

// untilTold ends the context when the process is told to stop: by a signal or, if it is
// a child process, by the end of its standard input. Ctrl-C in a terminal reaches
// children too; they ignore it and leave it to the parent.
func (p *process) untilTold(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.child == nil {
		return signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	}
	signal.Ignore(syscall.SIGINT)
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGTERM)
	go func() {
		_, _ = io.Copy(io.Discard, p.child)
		cancel()
	}()
	return ctx, cancel
}

// newProcess makes the process of an agent and loads its certificates. vos are the VOs of
// a site that serves several.
func newProcess(o Options, cfg *configs.Process, name agents.ID, vos ...configs.VO) (*process, error) {
	p := &process{cfg: cfg, name: name, child: o.Child, lacks: func() error { return nil }}
	p.journals = journals{p: p, fence: make(chan error, 1)}
	if err := supervisor.SealDescriptors(); err != nil { // what this process has inherited, nothing that it starts does
		return nil, failure.Of(err)
	}
	level, err := zerolog.ParseLevel(cfg.Log)
	if err != nil {
		return nil, err
	}
	p.log = NewLog(o.Stderr, level)
	if len(vos) > 0 {
		return p, p.ofSeveral(vos)
	}
	one := p.membership()
	p.in = []*membership{one}
	err = p.certified(one)
	p.store = one.store
	return p, err
}

// logOf is the log for one VO.
func (p *process) logOf(m *membership) zerolog.Logger {
	if m.vo == "" {
		return p.log
	}
	return p.log.With().Str("vo", m.vo).Logger()
}

// leave ends all parts: it takes no more requests, tells the other processes that this one
// leaves, and lets the agents finish what they have begun.
func (p *process) leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	err := p.parts.end(ctx)
	if err == nil {
		p.log.Info().Msg("stopped")
	}
	return err
}

// abandon ends all parts at once, without telling the peers.
func (p *process) abandon() {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.parts.end(now)
}
