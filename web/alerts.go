package web

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/view"
	"github.com/bourse-grid/bourse/web/api"
)

// Bounds of what a live page calls attention to.
const (
	mostAlerts = 8               // batches and jobs that failed; the others are in the table
	endsSoon   = 2 * grid.Day    // of an account
	askProcess = 2 * time.Second // for the state of its replicas
)

// alerts is what needs attention, the most urgent first: what failed, sites, replicas, money
// and certificates.
func (p *picture) alerts(sites []api.Site, b *broker.Broker, now grid.Time) []view.Alert {
	list := p.failures()
	for i := range sites {
		s := &sites[i]
		if s.State == "usable" || s.State == "not-asked" {
			continue
		}
		a := view.Alert{Kind: "site", Site: s.Name, Words: awayWords(s)}
		if since := p.past.since(s.Name); since > 0 {
			a.At = int64(since - p.epoch)
		}
		list = append(list, a)
	}
	return slices.Concat(list, p.short(b, now), p.own)
}

// awayWords say that a site takes nothing, and why, each once.
func awayWords(s *api.Site) string {
	why, own := strings.CutPrefix(whyAway(s), s.Name+" ")
	switch {
	case own && strings.HasPrefix(why, "is "):
		return s.Name + " " + why
	case why != "":
		why = ": " + why
	}
	return fmt.Sprintf("%s is %s%s", s.Name, siteWords[s.State], why)
}

// siteWords say what the states of a site mean for jobs.
var siteWords = map[string]string{"drained": "drained", "closed": "closed to this VO", "silent": "silent: it does not answer",
	"skewed": "not used: its clock differs by more than 2 s", "left": "gone: its process was stopped or cannot be reached", "lost": "lost: its legs are abandoned"}

// failures are the jobs that failed or were abandoned and are still drawn, the latest first.
// Those of one batch share a line. An open array has a line as soon as an element has failed.
func (p *picture) failures() (list []view.Alert) {
	bad := slices.DeleteFunc(slices.Collect(maps.Values(p.drawn)), func(d *drawn) bool {
		return d.job.State != grid.JobFailed.String() && d.job.State != grid.JobAbandoned.String() && d.spoilt() == 0
	})
	slices.SortFunc(bad, func(a, b *drawn) int { return cmp.Or(cmp.Compare(b.since, a.since), cmp.Compare(b.number, a.number)) })
	of, all := map[string][]*drawn{}, map[string]int{}
	for _, d := range p.drawn {
		all[d.job.Batch]++
	}
	var order []string
	for _, d := range bad {
		key := cmp.Or(d.job.Batch, d.job.ID)
		if d.spoilt() > 0 {
			key = d.job.ID
		}
		if of[key] == nil {
			order = append(order, key)
		}
		of[key] = append(of[key], d)
	}
	for _, key := range order[:min(len(order), mostAlerts)] {
		first := of[key][0]
		a := view.Alert{Kind: "failed", Job: first.job.ID, At: int64(first.since - p.epoch)}
		if n := len(of[key]); n > 1 {
			a.Job, a.Batch = "", key
			a.Words = fmt.Sprintf("%d of %d jobs of batch %s failed or were abandoned; the latest, %s: %s", n, all[key], key, first.job.ID, cmp.Or(first.job.Why, first.job.State))
		} else if n := first.spoilt(); n > 0 {
			a.Words = fmt.Sprintf("%s goes on, and %d of its %d elements failed or were abandoned: %s", first.job.ID, n, first.elements(), cmp.Or(first.job.Why, "no reason is on record"))
		} else {
			a.Words = fmt.Sprintf("%s %s: %s", first.job.ID, overWords[first.job.State], cmp.Or(first.job.Why, "no reason is on record"))
		}
		list = append(list, a)
	}
	if n := len(order) - mostAlerts; n > 0 {
		list = append(list, view.Alert{Kind: "failed", Words: fmt.Sprintf("and %d more; the table of jobs has all", n)})
	}
	return list
}

// spoilt is how many elements of an open array failed or were abandoned.
func (d *drawn) spoilt() int {
	if d.array == nil || !d.open {
		return 0
	}
	return d.array.Failed + d.array.Abandoned
}

// elements is how many elements an array has.
func (d *drawn) elements() (n int) {
	for _, k := range d.array.Counts() {
		n += k
	}
	return n
}

var overWords = map[string]string{grid.JobFailed.String(): "failed", grid.JobAbandoned.String(): "was abandoned"}

// short are the accounts that are used up, or soon are at their present pace.
func (p *picture) short(b *broker.Broker, now grid.Time) (list []view.Alert) {
	a := accountsOf(b, p.who, now)
	tell := func(account, name string, use, left grid.Credits) {
		if left <= 0 {
			list = append(list, view.Alert{Kind: "budget", Words: name + " is used up"})
			return
		}
		if lasts, seen, ok := p.past.lasts(account, use, left, now); ok && lasts < endsSoon {
			list = append(list, view.Alert{Kind: "budget", Words: fmt.Sprintf("%s ends in about %v at the pace of the last %v: %.2f credits are left",
				name, lasts.Roughly(), seen.Roughly(), left.Float())})
		}
	}
	if m := a.Money; m != nil {
		tell("", "the VO's account", m.Spent.Plus(m.Pending.Credits), m.Left.Credits)
	}
	for i := range a.Users {
		if u := &a.Users[i]; u.Quota != nil {
			tell(u.User, "the quota of "+u.User, u.Spent.Plus(u.Pending.Credits), u.Left.Credits)
		}
	}
	return list
}

// processAlerts is what there is to say of the processes and certificates behind a page.
func (l *pages) processAlerts(r *http.Request, who Caller) (list []view.Alert) {
	if who.Role == Operator && l.opt.Replicas != nil {
		ctx, stop := context.WithTimeout(r.Context(), askProcess)
		defer stop()
		if group, err := l.opt.Replicas(ctx); err == nil {
			list = lostReplicas(&group)
		}
	}
	if who.Role == Operator && l.opt.Warning != nil {
		if words := l.opt.Warning(); words != "" {
			list = append(list, view.Alert{Kind: "certificate", Words: words})
		}
	}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		list = append(list, expiring(r.TLS.PeerCertificates[0], time.Now())...)
	}
	return list
}

// lostReplicas are the members of a group that its leader does not hear.
func lostReplicas(group *api.Replicas) (list []view.Alert) {
	for i := range group.Members {
		if m := &group.Members[i]; m.Name != group.Leader && !m.Reachable {
			list = append(list, view.Alert{Kind: "replica", Words: fmt.Sprintf("%s is not heard by the leader, %s; bourse replica shows the group", m.Name, group.Leader)})
		}
	}
	return list
}

// expiring warns of the caller's own certificate.
func expiring(c *x509.Certificate, now time.Time) []view.Alert {
	if !certificate.Soon(c.NotBefore, c.NotAfter, now) {
		return nil
	}
	return []view.Alert{{Kind: "certificate", Words: fmt.Sprintf("your certificate expires on %s; ask whoever issues them for a new one", c.NotAfter.UTC().Format(time.RFC3339))}}
}

// exitOf is the exit status of a job's work: the first that is not 0.
func exitOf(j *api.Job) (exit *int) {
	for i := range j.Legs {
		if x := j.Legs[i].Exit; x != nil && (exit == nil || *exit == 0) {
			exit = x
		}
	}
	return exit
}
