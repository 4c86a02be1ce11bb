package web

import (
	"context"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
)

// SiteState is the state of a site.
type SiteState struct {
	Name        string        `json:"name"`
	Now         Instant       `json:"now" doc:"by its clock"`
	Drained     *Drained      `json:"drained,omitempty" doc:"present while it accepts nothing new"`
	Closed      []Closed      `json:"closed" doc:"VOs and users to which it is closed"`
	Maintenance []Maintenance `json:"maintenance" doc:"maintenance that has not ended"`
	Open        int           `json:"open" doc:"legs that hold nodes"`
	Kept        int           `json:"kept" doc:"legs remembered, open or over"`
	Groups      []Group       `json:"groups,omitempty" doc:"absent until its cluster has answered"`
	Brokers     []Debt        `json:"brokers,omitempty" doc:"what each has paid and owes; only for operators"`
	Shares      []VOShare     `json:"shares,omitempty" doc:"shares of node-time that VOs may hold, if limited; only for operators"`
	Mirror      *Mirror       `json:"mirror,omitempty" doc:"second copy of its journals, if there is one; only for operators"`
	Words       []string      `json:"words,omitempty" doc:"what it accepts, and to whom it is closed, in words"`
}

// VOShare is how much of a site's node-time a VO may hold, and how much it holds now.
type VOShare struct {
	VO    string  `json:"vo,omitempty" doc:"a VO or a broker; absent: all together"`
	Share float64 `json:"share" doc:"share of the node-time of the next span that its legs may hold, 0 to 1"`
	Held  float64 `json:"held" doc:"share that its legs hold now"`
	Span  string  `json:"span" doc:"the site's share_span" example:"7d"`
	LetGo bool    `json:"letGo,omitempty" doc:"the site no longer listens to its brokers, but keeps its legs until they end"`
}

// Mirror is the state of the second copy of an agent's journals.
type Mirror struct {
	Place   string  `json:"place" doc:"a folder, or HOST:PORT"`
	Current bool    `json:"current" doc:"it is complete"`
	Since   Instant `json:"since" doc:"since when it is complete, or behind"`
	Why     string  `json:"why,omitempty" doc:"why it is behind"`
}

// Drained says until when a site accepts nothing new.
type Drained struct {
	Until Instant `json:"until,omitzero" doc:"absent: until further notice"`
	Why   string  `json:"why,omitempty"`
}

// Closed says to whom a site is closed: a VO, a user, or that user of that VO.
type Closed struct {
	VO   string `json:"vo,omitempty"`
	User string `json:"user,omitempty"`
	Why  string `json:"why,omitempty"`
}

// Maintenance is a window in which nodes are out of service.
type Maintenance struct {
	Name  string  `json:"name"`
	Group string  `json:"group"`
	Nodes int     `json:"nodes"`
	Start Instant `json:"start"`
	End   Instant `json:"end"`
	Why   string  `json:"why,omitempty"`
}

// Debt is what a broker has paid a site, net of refunds, and what is pending.
type Debt struct {
	Broker  string  `json:"broker"`
	Paid    Credits `json:"paid"`
	Pending Credits `json:"pending"`
}

// DrainWish asks a site to accept nothing new.
type DrainWish struct {
	Until string `json:"until,omitempty" maxLength:"40" doc:"RFC 3339, or a span from now such as 2h; default: until further notice"`
	Why   string `json:"why,omitempty" maxLength:"256" doc:"reason, shown to whoever is refused"`
}

// CloseWish asks a site to accept nothing new from a VO, a user, or that user of that VO.
type CloseWish struct {
	VO   string `json:"vo,omitempty" maxLength:"256" doc:"the name of its broker"`
	User string `json:"user,omitempty" maxLength:"256"`
	Why  string `json:"why,omitempty" maxLength:"256" doc:"reason, shown to whoever is refused"`
	// Ahead must be given explicitly, because names are easily mistyped.
	Ahead bool `json:"ahead,omitempty" doc:"allow a VO that the site does not know; otherwise that is refused"`
}

// OpenWish asks a site to end a close of the same VO and user.
type OpenWish struct {
	VO   string `json:"vo,omitempty" maxLength:"256"`
	User string `json:"user,omitempty" maxLength:"256"`
}

// MaintenanceWish asks a site to take nodes out of service in a window.
type MaintenanceWish struct {
	Name  string `json:"name" minLength:"1" maxLength:"64" doc:"until the window ends, the same name means the same window"`
	Group string `json:"group" minLength:"1" maxLength:"100"`
	Nodes int    `json:"nodes,omitempty" minimum:"0" maximum:"1000000" doc:"0: all of the group"`
	Start string `json:"start,omitempty" maxLength:"40" doc:"RFC 3339, or a span from now; default: now"`
	End   string `json:"end" minLength:"1" maxLength:"40" doc:"RFC 3339, or a span from now"`
	Why   string `json:"why,omitempty" maxLength:"256"`
	Force bool   `json:"force,omitempty" doc:"kill local jobs and drop legs that are in the way; legs are lost with refund and penalty, and their brokers repair them. Otherwise the window is refused if anything is in the way"`
}

// Reloaded is what a process changed when it read its file again.
type Reloaded struct {
	Changed []string `json:"changed" doc:"in words; empty: nothing"`
	Restart []string `json:"restart" doc:"keys and tables that differ from those at the start and need a restart"`
}

// Reload makes the process read its file again. An error says what is wrong with the file;
// then nothing was changed.
type Reload func(context.Context) (Reloaded, error)

// horizon is how far ahead a site's API shows what is free.
const horizon = 7 * grid.Day

type (
	siteOutput struct{ Body SiteState }

	siteReservationsInput struct {
		Skip  int `query:"skip" minimum:"0" doc:"next of the previous page"`
		Limit int `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"rows of the page"`
	}

	reloadOutput     struct{ Body Reloaded }
	drainInput       struct{ Body DrainWish }
	closeInput       struct{ Body CloseWish }
	openInput        struct{ Body OpenWish }
	maintenanceInput struct{ Body MaintenanceWish }
	nameInput        struct {
		Name string `path:"name" maxLength:"64" doc:"of the maintenance"`
	}
)

// ownSite answers for the site whose API this is: it shows the site's state and forwards its
// operators' requests.
type ownSite struct{ *agent }

func (s *ownSite) drain(ctx context.Context, in *drainInput) (*siteOutput, error) {
	return s.operate(ctx, func(now grid.Time) (agents.Message, error) {
		until, err := moment(in.Body.Until, now, 0)
		return agents.Drain{Until: until, Why: in.Body.Why}, err
	})
}

func (s *ownSite) resume(ctx context.Context, _ *struct{}) (*siteOutput, error) {
	return s.operate(ctx, func(grid.Time) (agents.Message, error) { return agents.Resume{}, nil })
}

func (s *ownSite) maintain(ctx context.Context, in *maintenanceInput) (*siteOutput, error) {
	return s.operate(ctx, in.Body.message)
}

func (s *ownSite) cancelMaintenance(ctx context.Context, in *nameInput) (*siteOutput, error) {
	return s.operate(ctx, func(grid.Time) (agents.Message, error) { return agents.MaintenanceCancel{Name: in.Name}, nil })
}

func (s *ownSite) open(ctx context.Context, in *openInput) (*siteOutput, error) {
	return s.operate(ctx, func(grid.Time) (agents.Message, error) {
		return agents.Open{VO: in.Body.VO, User: in.Body.User}, nil
	})
}

func (s *ownSite) reload(ctx context.Context, _ *struct{}) (*reloadOutput, error) {
	if err := s.operators(ctx); err != nil {
		return nil, err
	}
	if s.opt.Reload == nil {
		return nil, huma.Error501NotImplemented("this process does not read its file again; restart it")
	}
	s.opt.Log.Info().Str("operator", caller(ctx).Name).Msg("reading the file again for an operator")
	r, err := s.opt.Reload(ctx)
	if err != nil {
		return nil, huma.Error409Conflict("nothing was changed: " + err.Error())
	}
	return &reloadOutput{r}, nil
}

func (w *MaintenanceWish) message(now grid.Time) (agents.Message, error) {
	m := agents.Maintenance{Name: w.Name, Group: w.Group, Nodes: w.Nodes, Why: w.Why, Force: w.Force}
	var err error
	if m.Start, err = moment(w.Start, now, now); err == nil {
		m.End, err = moment(w.End, now, 0)
	}
	return m, err
}

// operate sends an operator's message to the site and answers with its state after that.
func (s *ownSite) operate(ctx context.Context, message func(now grid.Time) (agents.Message, error)) (*siteOutput, error) {
	if err := s.operators(ctx); err != nil {
		return nil, err
	}
	var now grid.Time
	if err := s.view(ctx, func(t grid.Time, _ agents.Agent) { now = t }); err != nil {
		return nil, err
	}
	m, err := message(now)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	answer, err := s.ask(ctx, m)
	if err != nil {
		return nil, err
	}
	r, _ := answer.(agents.OperatorReply)
	switch r.Reason.Code {
	case grid.None:
		s.opt.Log.Info().Str("operator", caller(ctx).Name).Str("kind", m.Kind()).Interface("wish", m).Msg("recorded an operator's request")
		return s.state(ctx, nil)
	case grid.Invalid, grid.Unknown, grid.TooLarge, grid.Past:
		return nil, huma.Error422UnprocessableEntity(dated(r.Reason.String()))
	}
	return nil, huma.Error409Conflict(dated(r.Reason.String()))
}

// status reads the site's state, without its legs.
func (s *ownSite) status(ctx context.Context) (st sites.Status, err error) {
	err = s.view(ctx, func(now grid.Time, a agents.Agent) { st = a.(*sites.Site).Status(now, 0, horizon) })
	return st, err
}

// fresh is status after the site has asked its cluster. A request for offers makes it do so,
// whether it then offers anything or not.
func (s *ownSite) fresh(ctx context.Context) (sites.Status, error) {
	wait, stop := context.WithTimeout(ctx, s.opt.Limits.Wait)
	defer stop()
	if _, err := s.opt.Host.Ask(wait, "operator:web", s.opt.Agent, agents.OfferRequest{}); err != nil {
		return sites.Status{}, s.unanswered(err)
	}
	return s.status(ctx)
}

func (s *ownSite) state(ctx context.Context, _ *struct{}) (*siteOutput, error) {
	st, err := s.fresh(ctx)
	if err != nil {
		return nil, err
	}
	x := SiteState{Name: st.Name, Now: Instant(st.Now), Closed: []Closed{}, Maintenance: []Maintenance{}, Open: st.Open, Kept: st.Kept}
	if d := st.Drained; d != nil {
		x.Drained = &Drained{instant(d.Until), d.Why}
	}
	for _, c := range st.Closed {
		x.Closed = append(x.Closed, Closed{c.VO, c.User, c.Why})
	}
	for _, m := range st.Maintenance {
		x.Maintenance = append(x.Maintenance, Maintenance{m.Name, m.What.Group, m.What.Nodes, Instant(m.What.Start), instant(m.What.End), m.Why})
	}
	for i := range st.Groups {
		x.Groups = append(x.Groups, groupOf(&st.Groups[i], st.Now))
	}
	if caller(ctx).Role == Operator {
		if s.opt.Mirror != nil {
			x.Mirror = s.opt.Mirror()
		}
		for _, v := range st.Shares {
			x.Shares = append(x.Shares, VOShare{v.VO, float64(v.Share) / 1000, float64(v.Held) / 1000, st.Span.Words(), s.opt.LetGo != nil && v.VO != "" && s.opt.LetGo(v.VO)})
		}
		for _, a := range st.Accounts {
			if name, ok := strings.CutPrefix(a.Name, "broker:"); ok {
				x.Brokers = append(x.Brokers, Debt{name, Credits{a.Debit - a.Credit}, Credits{a.PendingDebit}})
			}
		}
	}
	x.Words = x.Sentences(func(i Instant) string { return i.Time().UTC().Format(time.RFC3339) })
	return &siteOutput{x}, nil
}

func (s *ownSite) offers(ctx context.Context, _ *struct{}) (*offersOutput, error) {
	st, err := s.fresh(ctx)
	if err != nil {
		return nil, err
	}
	out := &offersOutput{OfferList{Offers: []Offer{}}}
	for i := range st.Groups {
		out.Body.Offers = append(out.Body.Offers, offerOf(st.Name, st.Now, &st.Groups[i]))
	}
	return out, nil
}

func (s *ownSite) reservations(ctx context.Context, in *siteReservationsInput) (*reservationsOutput, error) {
	if err := s.operators(ctx); err != nil {
		return nil, err
	}
	limit := min(in.Limit, s.opt.Limits.Page)
	out := &reservationsOutput{ReservationList{Reservations: []Reservation{}}}
	err := s.view(ctx, func(_ grid.Time, a agents.Agent) {
		site := a.(*sites.Site)
		list, more := site.Page(in.Skip, limit)
		for i := range list {
			l := &list[i]
			out.Body.Reservations = append(out.Body.Reservations, Reservation{Leg: l.Leg.String(), Job: l.Job, User: l.User,
				Broker: strings.TrimPrefix(string(l.Broker), "broker:"), Site: site.Name(), Group: l.What.Group, Nodes: l.What.Nodes,
				Start: Instant(l.What.Start), End: Instant(l.What.End), State: l.State.String(), Cost: Credits{l.Fare.Total()}})
		}
		if more {
			out.Body.Next = in.Skip + len(list)
		}
	})
	return out, err
}

// siteGauges reads the site's state at every scrape, between two steps.
type siteGauges struct{ *ownSite }

var (
	gaugeLegs  = prometheus.NewDesc("bourse_site_legs", "Legs that hold nodes.", nil, nil)
	gaugeKept  = prometheus.NewDesc("bourse_site_legs_kept", "Legs remembered, open or over.", nil, nil)
	gaugeQueue = prometheus.NewDesc("bourse_site_waiting", "Requests waiting for the cluster.", nil, nil)
	gaugeDrain = prometheus.NewDesc("bourse_site_drained", "1 while the site accepts nothing new.", nil, nil)
	gaugeFree  = prometheus.NewDesc("bourse_site_nodes", "Nodes of a group: all, free to be reserved now, and clear of the queue's plan.", []string{"group", "what"}, nil)
	gaugePaid  = prometheus.NewDesc("bourse_site_income_credits", "What brokers have paid, net of refunds, and what is pending.", []string{"broker", "what"}, nil)
)

// Describe implements prometheus.Collector.
func (g *siteGauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{gaugeLegs, gaugeKept, gaugeQueue, gaugeDrain, gaugeFree, gaugePaid, gaugeStray, gaugeEarly} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. It sends nothing if the site does not answer
// within two seconds.
func (g *siteGauges) Collect(ch chan<- prometheus.Metric) {
	ctx, stop := context.WithTimeout(g.base, 2*time.Second)
	defer stop()
	st, err := g.status(ctx)
	if err != nil {
		return
	}
	put := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	put(gaugeLegs, float64(st.Open))
	put(gaugeKept, float64(st.Kept))
	put(gaugeQueue, float64(st.Waiting))
	put(gaugeDrain, truth(st.Drained != nil))
	ch <- prometheus.MustNewConstMetric(gaugeStray, prometheus.CounterValue, float64(st.Stray))
	ch <- prometheus.MustNewConstMetric(gaugeEarly, prometheus.CounterValue, float64(st.Early))
	for i := range st.Groups {
		x := groupOf(&st.Groups[i], st.Now)
		put(gaugeFree, float64(x.Nodes), x.Name, "all")
		put(gaugeFree, float64(x.Free), x.Name, "free")
		put(gaugeFree, float64(x.Clear), x.Name, "clear")
	}
	for _, a := range st.Accounts {
		if name, ok := strings.CutPrefix(a.Name, "broker:"); ok {
			put(gaugePaid, (a.Debit - a.Credit).Float(), name, "paid")
			put(gaugePaid, a.PendingDebit.Float(), name, "pending")
		}
	}
}
