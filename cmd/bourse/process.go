package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/cluster/local/supervisor"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/web"
)

// patience is how long a process that is told to stop has to finish what its agents have
// begun.
const patience = 20 * time.Second

// process is the common part of the processes of sites and brokers: a host with its
// agents, their journals, the node through which others reach it, the API.
type process struct {
	cfg    *configs.Process
	name   agents.ID // of the agent that others talk to
	log    zerolog.Logger
	store  *certificate.Store // of the API; nil: plain text on loopback
	host   *live.Host
	in     []*membership // at least one; members hands it out
	vos    *live.VOs     // between the host and several VOs; nil: there is only one
	api    api
	peers  *live.Peers           // of a replica; nil: not a replica
	after  func(context.Context) // runs while the agents live; nil: nothing
	before func()                // the first step of leaving; nil: nothing
	lacks  func() error          // what it cannot serve without, although its agents live; nil: nothing
	disks  []*journal.Folder
	twice  []*mirrored                // journals with a second copy
	fence  chan error                 // receives an error when a second copy belongs to another process
	known  []agents.ID                // sites that a broker remembers
	tells  []prometheus.Collector     // further metrics
	token  atomic.Pointer[web.Tokens] // tokens that the API accepts beside certificates; nil: none
	child  io.Reader                  // of a child process: its end means stop; nil: not a child

	reread   func(context.Context) (web.Reloaded, error) // reads its file again; nil: it cannot
	changing sync.Mutex                                  // guards in
	rereads  sync.Mutex                                  // held while the file is read again; guards begun and ending
	begun    bool                                        // the agents have begun
	ending   bool                                        // the process is stopping: no more rereading
}

// api answers users and operators.
type api interface {
	Serve(net.Listener) error
	Close(context.Context)
}

// run starts the process and keeps it going until it is told to stop or fails.
// begin adds its agents, serve makes its API.
func (p *process) run(ctx context.Context, begin func() error, serve func(web.Options) (api, error)) error {
	ctx, unhook := p.untilTold(ctx)
	defer unhook()
	defer p.closeDisks()
	hangups := p.hangups() // a SIGHUP before the agents have begun waits for them
	defer signal.Stop(hangups)
	listener, err := p.listen()
	if err != nil {
		return failed(err)
	}
	if listener != nil {
		defer func() { _ = listener.Close() }()
	}
	tuned := os.Getenv("GOGC") == ""
	if tuned {
		debug.SetGCPercent(gcPercent(0))
	}
	debug.SetTraceback("crash") // a panic ends the process by a signal: exit status 2 would mean a bad file
	p.host = live.NewHost(live.Options{Log: p.log, Now: wallClock, Wait: true})
	if err := p.start(ctx, begin); err != nil {
		_ = p.host.Stop(ctx)
		return failed(err)
	}
	served := make(chan error, 1)
	if listener != nil {
		answers, err := serve(p.webOptions())
		if err != nil {
			return failed(errors.Join(err, p.leave()))
		}
		p.api = answers
		go func() { served <- answers.Serve(listener) }()
	}
	if p.after != nil {
		p.after(ctx)
	}
	if err := p.begin(ctx); err != nil {
		p.log.Info().Msg("stopping before the agents have begun")
		return failed(p.leave())
	}
	p.rereads.Lock()
	p.begun = true
	p.rereads.Unlock()
	debug.FreeOSMemory() // the replay takes several times the memory of its result
	if tuned {
		tuneCollector(ctx)
	}
	in := p.members()
	for _, m := range in[1:] {
		p.log.Info().Str("vo", m.vo).Str("agents", m.node.Address()).Str("gossip", m.node.Gossip()).Msg("this VO is served")
	}
	line, words := p.log.Info(), "ready"
	if err := p.lacking(); err != nil {
		line, words = p.log.Warn().Err(err), "serving, but not ready"
	}
	line.Str("agents", in[0].node.Address()).Str("gossip", in[0].node.Gossip()).Str("api", p.apiURL()).Msg(words)
	return p.goOn(ctx, unhook, hangups, served)
}

// goOn keeps the process going until it is told to stop or fails.
func (p *process) goOn(ctx context.Context, unhook func(), hangups <-chan os.Signal, served <-chan error) error {
	for {
		select {
		case <-ctx.Done():
			unhook() // a second signal ends the process at once
			p.log.Info().Msg("stopping")
			return failed(p.leave())
		case <-hangups:
			_, _ = p.reload(ctx) // it logs its error
		case err := <-p.host.Failed():
			p.log.Error().Err(err).Msg("the process cannot go on; its next life replays the journal")
			p.abandon()
			return failed(err)
		case err := <-p.fence:
			p.log.Error().Err(err).Msg("the process stops without telling its peers")
			p.abandon()
			return failed(err)
		case err := <-served:
			return failed(errors.Join(err, p.leave()))
		case m := <-p.superseded():
			err := fmt.Errorf("a later process of %s answers at %s with this agent's certificate (life %d), and two must not act for one broker: this one stops. Find out who started it twice; jobs that only this one has taken are in its journal, %s",
				m.Agent, m.Address, m.Life, p.folder(p.name))
			p.log.Error().Str("address", m.Address).Uint64("life", m.Life).Msg(err.Error())
			p.noteDisplaced(m)
			p.abandon()
			return failed(err)
		}
	}
}

// superseded receives a later process with the same broker's name. For sites it is nil:
// the later process may be the wrong one, and the protocol cannot tell, so that case is
// logged and left to the operator.
func (p *process) superseded() <-chan live.Member {
	if strings.HasPrefix(string(p.name), "broker:") && p.peers == nil {
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

// start starts the agents and joins the other processes.
func (p *process) start(ctx context.Context, begin func() error) error {
	if err := begin(); err != nil {
		return err
	}
	if p.in[0].vo != "" {
		p.vos = live.NewVOs(p.host, p.log)
	}
	return p.enterAll()
}

// processFlags are the flags of both kinds of processes.
type processFlags struct{ untilEOF bool }

func (f *processFlags) add(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&f.untilEOF, "until-eof", false, "stop when standard input ends, not on Ctrl-C")
	if err := cmd.Flags().MarkHidden("until-eof"); err != nil { // for bourse up
		panic(err)
	}
	return cmd
}

// newProcess makes the process of an agent and loads its certificates. vos are the VOs of
// a site that serves several.
func (f *processFlags) newProcess(cmd *cobra.Command, cfg *configs.Process, name agents.ID, vos ...configs.VO) (*process, error) {
	p := &process{cfg: cfg, name: name}
	if err := supervisor.SealDescriptors(); err != nil { // what this process has inherited, nothing that it starts does
		return nil, failed(err)
	}
	if f.untilEOF {
		p.child = cmd.InOrStdin()
	}
	level, err := zerolog.ParseLevel(cfg.Log)
	if err != nil {
		return nil, err
	}
	p.log = newLog(cmd.ErrOrStderr(), level)
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

// visibleMessage escapes terminal commands in a log message, which may contain words of a
// peer. Other fields are quoted anyway.
func visibleMessage(event map[string]any) error {
	if words, ok := event[zerolog.MessageFieldName].(string); ok {
		event[zerolog.MessageFieldName] = visible(words)
	}
	return nil
}

// newLog logs readable lines on a terminal, and lines of JSON elsewhere.
func newLog(w io.Writer, level zerolog.Level) zerolog.Logger {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		w = zerolog.NewConsoleWriter(func(c *zerolog.ConsoleWriter) {
			c.Out, c.TimeFormat, c.FormatPrepare = f, "15:04:05.000", visibleMessage
		})
	}
	stamp := zerolog.HookFunc(func(e *zerolog.Event, _ zerolog.Level, _ string) {
		e.Str(zerolog.TimestampFieldName, time.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00"))
	})
	return zerolog.New(zerolog.SyncWriter(w)).Level(level).Hook(stamp)
}

// add starts an agent with a journal in a folder of its own.
func (p *process) add(id agents.ID, a agents.Durable) error {
	folder, err := journal.OpenFolder(p.folder(id))
	if err != nil {
		return err
	}
	p.disks = append(p.disks, folder)
	if err := private(p.folder(id)); err != nil {
		return err
	}
	disk, err := p.mirror(id, folder)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	return p.host.Add(id, a, disk, journal.Options{Keep: p.cfg.Journal.Keep})
}

// folder is the folder of an agent's journal: "site-north" for site:north.
func (p *process) folder(id agents.ID) string {
	role, name, _ := strings.Cut(string(id), ":")
	return filepath.Join(p.cfg.Journal.Dir, role+"-"+url.PathEscape(name))
}

func (p *process) closeDisks() {
	p.closeMirrors()
	for _, d := range p.disks {
		if err := d.Close(); err != nil {
			p.log.Error().Err(err).Msg("closing a journal")
		}
	}
}

// leave stops taking requests, tells the other processes that this one leaves, and lets
// the agents finish what they have begun.
func (p *process) leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	p.rereads.Lock()
	p.ending = true
	p.rereads.Unlock()
	if p.before != nil {
		p.before()
	}
	if p.api != nil {
		p.api.Close(ctx)
	}
	err := p.leaveAll(ctx)
	if p.peers != nil {
		p.peers.Close()
	}
	if err == nil {
		p.log.Info().Msg("stopped")
	}
	return err
}

// abandon stops everything at once, without telling the peers.
func (p *process) abandon() {
	if p.api != nil {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		p.api.Close(now)
	}
	for _, m := range p.members() {
		m.node.Close()
	}
	if p.peers != nil {
		p.peers.Close()
	}
}

// lacking is what the process cannot serve without; nil: nothing.
func (p *process) lacking() error {
	if p.lacks == nil {
		return nil
	}
	return p.lacks()
}

// listen opens the address of the API; nil if there is no API.
func (p *process) listen() (net.Listener, error) {
	if p.cfg.HTTP == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", p.cfg.HTTP)
	if err != nil {
		return nil, fmt.Errorf("the API cannot listen: %w", err)
	}
	if p.store == nil {
		return l, nil
	}
	c := p.store.Server(certificate.User, certificate.Operator)
	if p.token.Load() != nil {
		c = p.store.ServerOfAnybody(certificate.User, certificate.Operator)
	}
	c = certificate.TellRevoked(c) // the API identifies each request again
	c.NextProtos = []string{"http/1.1"}
	return tls.NewListener(l, c), nil
}

// meet serves the rendezvous of a site until stop is called.
func (p *process) meet(address string, key agents.Key) (stop func(), err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the rendezvous cannot listen: %w", err)
	}
	r := web.NewRendezvous(key)
	go func() {
		if err := r.Serve(l); err != nil {
			p.log.Error().Err(err).Msg("the rendezvous has failed: no job can use it until this process is restarted")
		}
	}()
	return r.Close, nil
}

// apiURL is the URL of the API for users.
func (p *process) apiURL() string {
	switch {
	case p.cfg.HTTP == "":
		return ""
	case p.store == nil:
		return "http://" + p.cfg.HTTP
	}
	return "https://" + p.cfg.HTTP
}

func (p *process) webOptions() web.Options {
	o := web.Options{Host: p.host, Agent: p.name, Identify: web.Anybody, Log: p.log, Collectors: append([]prometheus.Collector{&processMetrics{p}}, p.tells...)}
	o.Ready = func() error { return cmp.Or(p.waiting(), p.lacking()) }
	o.Mirror, o.VOs, o.Brokers = p.mirrorState, p.voNames, p.brokers
	o.LetGo = func(vo string) bool { return p.vos != nil && !slices.Contains(p.voNames(), vo) }
	if p.reread != nil {
		o.Reload = p.reload
	}
	if p.store != nil {
		o.Ready = func() error { return cmp.Or(p.waiting(), p.store.Self(), p.lacking()) }
		byCertificate := web.ByCertificate(p.store)
		o.Identify = func(r *http.Request) (web.Caller, error) {
			if t := p.token.Load(); t != nil { // the present ones: rereading the file may change them
				return t.Or(byCertificate)(r)
			}
			return byCertificate(r)
		}
		o.Barred = func(user string) bool { return p.store.Barred(certificate.User, user) }
	}
	return o
}
