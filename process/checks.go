package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/cluster/local"
	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
)

// What a site needs of its machine and its cluster is one list of checks. "bourse check
// --live" tries all of it. A start tries what it would not find out otherwise (its clock it
// compares with those of its peers), and tries
// again, as long as the site runs, what it cannot serve without.

// The states of a finding.
const (
	foundOK      = "ok"
	foundWarning = "warning" // it works, or may work; the operator should know
	FoundMissing = "missing"
)

// Finding is what a check has found.
type Finding struct {
	Check string `json:"check"`
	State string `json:"state"` // ok, warning, missing
	Words string `json:"words"` // what was tried; otherwise what is wrong, and the remedy

	idle bool // missing: the site cannot serve anybody without it
}

func ok(format string, args ...any) Finding {
	return Finding{State: foundOK, Words: fmt.Sprintf(format, args...)}
}
func warning(format string, args ...any) Finding {
	return Finding{State: foundWarning, Words: fmt.Sprintf(format, args...)}
}
func missing(format string, args ...any) Finding {
	return Finding{State: FoundMissing, Words: fmt.Sprintf(format, args...)}
}

// without is what is missing and makes a site useless.
func without(format string, args ...any) Finding {
	f := missing(format, args...)
	f.idle = true
	return f
}

// check is something that a site needs.
type check struct {
	name string
	own  bool // a start does the same anyway, and ends if it fails
	try  func(ctx context.Context) Finding
}

// runChecks tries a list of checks, one after the other.
func runChecks(ctx context.Context, list []check) []Finding {
	found := make([]Finding, len(list))
	for i, c := range list {
		found[i] = c.try(ctx)
		found[i].Check = c.name
	}
	return found
}

// CheckSite tries all that a site needs of its machine and its cluster.
func CheckSite(ctx context.Context, cfg *configs.SiteProcess) []Finding {
	return runChecks(ctx, siteChecks(cfg))
}

// siteChecks lists what a site needs.
func siteChecks(cfg *configs.SiteProcess) []check {
	list := []check{
		{"certificates", true, func(context.Context) Finding { return tryCertificates(cfg) }},
		{"ports", true, func(context.Context) Finding { return tryPorts(cfg) }},
		{"journal", true, func(context.Context) Finding { return tryFolder("the folder of the journal", cfg.Journal.Dir) }},
		{"clock", true, func(context.Context) Finding { return tryClock() }},
	}
	switch cfg.Cluster.Kind {
	case "local":
		list = append(list, check{"folder", true, func(context.Context) Finding { return tryFolder("the folder of [cluster]", cfg.Cluster.Folder) }},
			check{"accounts", true, func(context.Context) Finding { return tryLocalAccounts(cfg) }})
	case "slurm":
		if afar(cfg) {
			return append(list, afarChecks(cfg)...)
		}
		t := slurm.Trial{Commands: slurm.Commands{Conf: cfg.Cluster.Conf, Limit: checkLimit}, Partitions: cfg.Cluster.Partitions, Holder: cfg.Cluster.Holder,
			Folder: cfg.Cluster.Folder, Name: "check-" + strings.TrimSuffix(slurmPrefix(cfg.Name), ".")}
		list = append(list, slurmChecks(t, cfg)...)
		if divides(cfg.Groups) {
			list = append(list, check{"slices", false, func(ctx context.Context) Finding { return tryDividing(ctx, t.Commands, cfg) }})
		}
	}
	return list
}

// checkLimit bounds each call of a check.
const checkLimit = 10 * time.Second

// slurmChecks lists what a site needs of Slurm.
func slurmChecks(t slurm.Trial, cfg *configs.SiteProcess) []check {
	return []check{
		{"controller", true, func(ctx context.Context) Finding {
			said, why := t.Controller(ctx)
			if why.Refused() {
				return without("%s", plainWords(why))
			}
			return ok("%s", said)
		}},
		{"rights", false, func(ctx context.Context) Finding {
			said, why := t.Rights(ctx)
			if why.Refused() {
				return without("no reservation can be made and deleted: %s", plainWords(why))
			}
			return ok("%s", said)
		}},
		{"folder", false, func(context.Context) Finding { return trySharedFolder(t, cfg) }},
		{"accounts", false, func(ctx context.Context) Finding { return trySlurmAccounts(ctx, t, cfg) }},
		{"controller's clock", false, func(ctx context.Context) Finding { return trySlurmClock(ctx, t) }},
	}
}

// tryDividing asks whether our jobs can share nodes.
func tryDividing(ctx context.Context, c slurm.Commands, cfg *configs.SiteProcess) Finding {
	if err := slurm.Dividable(ctx, c, cfg.Cluster.Partitions); err != nil {
		return without("%v; leave slices out", err)
	}
	return ok("our jobs can share nodes")
}

// plainWords is a reason with its instants as a log shows them.
func plainWords(why grid.Reason) string { return logWords(grid.Phrase(why.String())) }

// logWords is a phrase with its instants as a log shows them.
func logWords(p grid.Phrase) string {
	return p.In(func(t grid.Time) string { return time.UnixMilli(int64(t)).UTC().Format("2006-01-02T15:04:05Z") })
}

// skewOfSlurm is how far its clock may be from ours.
const skewOfSlurm = 5 * grid.Second

func trySlurmClock(ctx context.Context, t slurm.Trial) Finding {
	off, known, why := t.Clock(ctx)
	switch {
	case why.Refused():
		return warning("the controller's clock cannot be read: %s", plainWords(why))
	case !known:
		return warning("the controller does not say what time it is")
	case off > skewOfSlurm || off < -skewOfSlurm:
		return missing("the controller's clock differs from this machine's by %v s; they must agree to %s: have NTP set both", off, skewOfSlurm.Words())
	}
	return ok("the controller's clock agrees with this machine's to %s", skewOfSlurm.Words())
}

func trySharedFolder(t slurm.Trial, cfg *configs.SiteProcess) Finding {
	var names []string
	for _, a := range cfg.Mapping() {
		names = append(names, a.As)
	}
	f, err := t.TryFolder(names)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return warning("there is no folder %s yet; the site makes it at its start. It must be on a file system that all nodes share, at the same path", cfg.Cluster.Folder)
	case err != nil:
		return without("%v", err)
	case f.Remark != "":
		return warning("%s", f.Remark)
	}
	return ok("%s", f.Said)
}

// mostAccounts bounds the accounts that are tried.
const mostAccounts = 50

// trySlurmAccounts asks Slurm whether it would take the work of each account, with each set
// of options.
func trySlurmAccounts(ctx context.Context, t slurm.Trial, cfg *configs.SiteProcess) Finding {
	var list []configs.Account
	for _, a := range cfg.Mapping() {
		if !slices.ContainsFunc(list, func(b configs.Account) bool { b.User = a.User; return b.Same(a) }) {
			list = append(list, a)
		}
	}
	return tryAccounts(list, func(a configs.Account) (string, error) {
		if why := t.Submits(ctx, a.As, a.Submission()); why.Refused() {
			return "", errors.New(plainWords(why))
		}
		return "", nil
	})
}

func tryLocalAccounts(cfg *configs.SiteProcess) Finding {
	var list []configs.Account
	for _, a := range cfg.Mapping() {
		if !slices.ContainsFunc(list, func(b configs.Account) bool { return a.As == b.As }) {
			list = append(list, a)
		}
	}
	return tryAccounts(list, func(a configs.Account) (string, error) { return local.Try(cfg.Cluster.Folder, a.As) })
}

// tryAccounts tries the first accounts of a list. If work can run as none, the site is of no
// use.
func tryAccounts(list []configs.Account, try func(configs.Account) (string, error)) Finding {
	tried := list[:min(len(list), mostAccounts)]
	var wrong, remarks []string
	for _, a := range tried {
		remark, err := try(a)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("no work can run as %s: %v", strings.Join(append([]string{a.As}, a.Submission()...), " "), err))
		} else if remark != "" {
			remarks = append(remarks, remark)
		}
	}
	more := ""
	if n := len(list) - len(tried); n > 0 {
		more = fmt.Sprintf("; %d others were not tried", n)
	}
	switch {
	case len(wrong) > 0:
		f := missing("%s%s", strings.Join(wrong, "; "), more)
		f.idle = len(wrong) == len(tried)
		return f
	case len(remarks) > 0:
		return warning("%s%s", strings.Join(remarks, "; "), more)
	}
	return ok("work can run as %d of %d accounts that were tried%s", len(tried), len(tried), more)
}

// tryCertificates loads the certificates that the process has.
func tryCertificates(cfg *configs.SiteProcess) Finding {
	p := &process{cfg: &cfg.Process, name: agents.ID("site:" + cfg.Name), log: zerolog.Nop()}
	in := []*membership{p.membership()}
	if len(cfg.VOs) > 0 {
		in = nil
		for i := range cfg.VOs {
			if !cfg.VOs[i].LetGo {
				in = append(in, ofVO(&cfg.VOs[i]))
			}
		}
	}
	var expires time.Time
	warn := ""
	for _, m := range in {
		if m.tls.Plain {
			continue
		}
		s, err := p.load(m.tls, "")
		if err == nil {
			err = m.fits(s.Identity())
		}
		if err == nil {
			_, err = certificate.GossipKeys(m.gossip.Key)
		}
		if err != nil {
			return without("%v", err)
		}
		if end := s.Expires(); expires.IsZero() || end.Before(expires) {
			expires = end
		}
		warn = cmp.Or(warn, s.Warning())
	}
	switch {
	case expires.IsZero():
		return ok("there are none: tls.plain is set")
	case warn != "":
		return warning("%s", warn)
	}
	return ok("%d in force, the first until %s", len(in), expires.UTC().Format("2006-01-02"))
}

// tryPorts listens for a moment where the process will.
func tryPorts(cfg *configs.SiteProcess) Finding {
	tcp, udp := []string{cfg.Listen.Address, cfg.Gossip.Address, cfg.HTTP, cfg.Rendezvous.Address}, []string{cfg.Gossip.Address}
	for i := range cfg.VOs {
		v := &cfg.VOs[i]
		tcp, udp = append(tcp, v.Listen.Address, v.Gossip.Address), append(udp, v.Gossip.Address)
	}
	var free, taken []string
	for _, address := range tcp {
		if address == "" {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err == nil {
			_ = l.Close()
			free = append(free, address)
			continue
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return without("%v; name an address of this machine", err)
		}
		taken = append(taken, address)
	}
	for _, address := range udp {
		if address == "" || slices.Contains(taken, address) {
			continue
		}
		l, err := net.ListenPacket("udp", address)
		if err == nil {
			_ = l.Close()
			continue
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return without("%v; name an address of this machine", err)
		}
		taken = append(taken, address+"/udp")
	}
	if len(taken) > 0 {
		return warning("%s: in use, by this site if it runs, otherwise by another program (ss -lntup shows it)", strings.Join(taken, ", "))
	}
	return ok("%s can be listened on", strings.Join(free, ", "))
}

// tryFolder tries to write to a folder, or to the one in which it will be made.
func tryFolder(what, dir string) Finding {
	at := dir
	for {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			return without("%s: %s is no folder", what, at)
		}
		if err == nil {
			break
		}
		up := filepath.Dir(at)
		if !errors.Is(err, os.ErrNotExist) || up == at {
			return without("%s: %v", what, err)
		}
		at = up
	}
	tried, err := os.MkdirTemp(at, ".try-*")
	if err != nil {
		return without("%s, %s, cannot be written: %v; give it to the account that the site runs as", what, dir, err)
	}
	_ = os.Remove(tried)
	if at != dir {
		return ok("%s, %s, can be made", what, dir)
	}
	return ok("%s, %s, can be written", what, dir)
}
