package process

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
)

// siteWatch tells the operator of a site, by its log and by /readyz, what is missing and
// what is in the way at its cluster, whatever the driver.
type siteWatch struct {
	passive
	p        *process
	checks   []check // those that a start makes
	cluster  agents.ID
	troubles func() []managed.Trouble // called between two steps of the cluster; nil: it has none
	log      troubleLog

	mu    sync.Mutex
	found []Finding // by check
	blind string    // why the cluster offers nothing; "": it does
}

// How often the watch looks at the cluster, and how often it tries again what is missing.
const (
	watchEvery = 2 * time.Second
	tryEvery   = time.Minute
)

func newSiteWatch(p *process, cfg *configs.SiteProcess) *siteWatch {
	w := &siteWatch{p: p}
	for _, c := range siteChecks(cfg) {
		if !c.own {
			w.checks = append(w.checks, c)
		}
	}
	return w
}

// try makes the checks and logs what they have found. After the first time it makes only
// those that the site cannot serve without.
func (w *siteWatch) try(ctx context.Context) {
	w.mu.Lock()
	before := w.found
	w.mu.Unlock()
	found := slices.Clone(before)
	if before == nil {
		found = runChecks(ctx, w.checks)
	}
	for i := range found {
		if before == nil || !before[i].idle {
			continue
		}
		if found[i] = runChecks(ctx, w.checks[i:i+1])[0]; !found[i].idle {
			w.p.log.Info().Str("check", found[i].Check).Msg("no longer missing: " + found[i].Words)
		}
	}
	if before == nil {
		for _, f := range found {
			if f.State != foundOK {
				w.p.log.Warn().Str("check", f.Check).Str("state", f.State).Msg(f.Words)
			}
		}
	}
	w.mu.Lock()
	w.found = found
	w.mu.Unlock()
}

// ready is why the site cannot serve anybody.
func (w *siteWatch) ready() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.found {
		if f.idle {
			return fmt.Errorf("%s: %s", f.Check, f.Words)
		}
	}
	if w.blind != "" {
		return errors.New(w.blind)
	}
	return nil
}

// recovered says that the site is ready, once it has what it lacked when it began.
func (w *siteWatch) recovered() {
	if w.p.unready.Load() && w.ready() == nil {
		w.p.announce(nil)
	}
}

// begin watches until the process ends.
func (w *siteWatch) begin(ctx context.Context) error {
	go func() {
		look := time.NewTicker(watchEvery)
		again := time.NewTicker(tryEvery)
		defer look.Stop()
		defer again.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-look.C:
				w.look(ctx, now)
			case <-again.C:
				w.try(ctx)
			}
			w.recovered()
		}
	}()
	return nil
}

// look takes what is in the way at the cluster.
func (w *siteWatch) look(ctx context.Context, now time.Time) {
	if w.troubles == nil {
		return
	}
	ctx, stop := context.WithTimeout(ctx, watchEvery)
	defer stop()
	var list []managed.Trouble
	if w.p.host.View(ctx, w.cluster, func(grid.Time, agents.Agent) { list = w.troubles() }) != nil {
		return // it has not begun, or is too busy: the next look tells
	}
	w.mu.Lock()
	w.blind = ""
	for _, x := range list {
		if x.Blind {
			w.blind = logWords(x.Words) + "; until it does, nothing is offered"
		}
	}
	w.mu.Unlock()
	w.log.tell(w.p.log, now, list)
}

// troubleLog logs troubles: each at once, again every repeatTrouble while it lasts, and when
// it is over. Beyond mostTroubles new ones a minute it only counts them.
type troubleLog struct {
	told    map[string]*toldTrouble
	minute  time.Time // when the present minute began
	lines   int       // in it, about new ones
	dropped int
}

type toldTrouble struct {
	managed.Trouble
	next   time.Time // when it is repeated
	silent bool      // it was only counted
}

const (
	repeatTrouble = 10 * time.Minute
	mostTroubles  = 10
)

// tell logs what has changed since the last time.
func (l *troubleLog) tell(log zerolog.Logger, now time.Time, list []managed.Trouble) {
	if l.told == nil {
		l.told = map[string]*toldTrouble{}
	}
	if now.Sub(l.minute) >= time.Minute {
		if l.dropped > 0 {
			log.Warn().Int("troubles", l.dropped).Msg("more was in the way at the cluster than is logged one by one")
		}
		l.minute, l.lines, l.dropped = now, 0, 0
	}
	there := map[string]bool{}
	for _, x := range list {
		there[x.Key] = true
		t := l.told[x.Key]
		switch {
		case t == nil:
			t = &toldTrouble{silent: l.lines >= mostTroubles}
			l.told[x.Key] = t
			if l.lines++; t.silent {
				l.dropped++
			}
		case now.Before(t.next):
			t.Trouble = x
			continue
		}
		t.Trouble, t.next = x, now.Add(repeatTrouble)
		if !t.silent {
			log.Warn().Str("since", logWords(grid.Say("%v", x.Since))).Msg(logWords(x.Words))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(l.told)) {
		if there[key] {
			continue
		}
		t := l.told[key]
		delete(l.told, key)
		if !t.silent {
			log.Info().Str("since", logWords(grid.Say("%v", t.Since))).Msg("over: " + logWords(t.Words))
		}
	}
}
