package web

import (
	"context"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"
)

// Reload makes the process read its file again. An error says what is wrong with the file,
// or who would lose what; then nothing was changed.
type Reload func(context.Context, api.ReloadWish) (api.Reloaded, error)

// horizon is how far ahead a site's API shows what is free.
const horizon = 7 * grid.Day

type (
	siteOutput struct{ Body api.SiteState }

	siteReservationsInput struct {
		Skip  int `query:"skip" minimum:"0" doc:"next of the previous page"`
		Limit int `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"rows of the page"`
	}

	reloadOutput     struct{ Body api.Reloaded }
	reloadInput      struct{ Body *api.ReloadWish }
	drainInput       struct{ Body api.DrainWish }
	closeInput       struct{ Body api.CloseWish }
	openInput        struct{ Body api.OpenWish }
	maintenanceInput struct{ Body api.MaintenanceWish }
	nameInput        struct {
		Name string `path:"name" maxLength:"64" doc:"of the maintenance"`
	}
)

// ownSite answers for the site whose API this is: it shows the site's state and forwards its
// operators' requests.
type ownSite struct{ *agent }

func (s *ownSite) drain(ctx context.Context, in *drainInput) (*siteOutput, error) {
	return s.operate(ctx, func(now grid.Time) (agents.Message, error) {
		until, err := api.MomentAt(in.Body.Until, now, 0)
		return agents.Drain{Until: until, Why: in.Body.Why}, err
	})
}

func (s *ownSite) resume(ctx context.Context, _ *struct{}) (*siteOutput, error) {
	return s.operate(ctx, func(grid.Time) (agents.Message, error) { return agents.Resume{}, nil })
}

func (s *ownSite) maintain(ctx context.Context, in *maintenanceInput) (*siteOutput, error) {
	return s.operate(ctx, in.Body.Message)
}

func (s *ownSite) cancelMaintenance(ctx context.Context, in *nameInput) (*siteOutput, error) {
	return s.operate(ctx, func(grid.Time) (agents.Message, error) { return agents.MaintenanceCancel{Name: in.Name}, nil })
}

func (s *ownSite) open(ctx context.Context, in *openInput) (*siteOutput, error) {
	return s.operate(ctx, func(grid.Time) (agents.Message, error) {
		return agents.Open{VO: in.Body.VO, User: in.Body.User}, nil
	})
}

func (s *ownSite) reload(ctx context.Context, in *reloadInput) (*reloadOutput, error) {
	if err := s.operators(ctx); err != nil {
		return nil, err
	}
	if s.opt.Reload == nil {
		return nil, huma.Error501NotImplemented("this process does not read its file again; restart it")
	}
	s.opt.Log.Info().Str("operator", caller(ctx).Name).Msg("reading the file again for an operator")
	var wish api.ReloadWish
	if in.Body != nil {
		wish = *in.Body
	}
	r, err := s.opt.Reload(ctx, wish)
	if err != nil {
		return nil, huma.Error409Conflict("nothing was changed: " + err.Error())
	}
	return &reloadOutput{r}, nil
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
		return nil, huma.Error422UnprocessableEntity(api.Dated(r.Reason.String()))
	}
	return nil, huma.Error409Conflict(api.Dated(r.Reason.String()))
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
	x := api.SiteState{Name: st.Name, Now: api.Instant(st.Now), Closed: []api.Closed{}, Maintenance: []api.Maintenance{}, Open: st.Open, Kept: st.Kept}
	if d := st.Drained; d != nil {
		x.Drained = &api.Drained{Until: api.InstantOf(d.Until), Why: d.Why}
	}
	for _, c := range st.Closed {
		x.Closed = append(x.Closed, api.Closed{VO: c.VO, User: c.User, Why: c.Why})
	}
	for _, m := range st.Maintenance {
		x.Maintenance = append(x.Maintenance, api.Maintenance{Name: m.Name, Group: m.What.Group, Nodes: m.What.Nodes, Start: api.Instant(m.What.Start), End: api.InstantOf(m.What.End), Why: m.Why})
	}
	for i := range st.Groups {
		x.Groups = append(x.Groups, groupOf(&st.Groups[i], st.Now))
	}
	if caller(ctx).Role == Operator {
		if s.opt.Mirror != nil {
			x.Mirror = s.opt.Mirror()
		}
		for _, v := range st.Shares {
			x.Shares = append(x.Shares, api.VOShare{VO: v.VO, Share: float64(v.Share) / 1000, Held: float64(v.Held) / 1000, Span: st.Span.Words(), LetGo: s.opt.LetGo != nil && v.VO != "" && s.opt.LetGo(v.VO)})
		}
		for _, a := range st.Accounts {
			if name, ok := strings.CutPrefix(a.Name, "broker:"); ok {
				x.Brokers = append(x.Brokers, api.Debt{Broker: name, Paid: api.Credits{Credits: a.Debit - a.Credit}, Pending: api.Credits{Credits: a.PendingDebit}})
			}
		}
	}
	x.Words = x.Sentences(func(i api.Instant) string { return i.Time().UTC().Format(time.RFC3339) })
	return &siteOutput{x}, nil
}

func (s *ownSite) offers(ctx context.Context, _ *struct{}) (*offersOutput, error) {
	st, err := s.fresh(ctx)
	if err != nil {
		return nil, err
	}
	out := &offersOutput{api.OfferList{Offers: []api.Offer{}}}
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
	out := &reservationsOutput{api.ReservationList{Reservations: []api.Reservation{}}}
	err := s.view(ctx, func(_ grid.Time, a agents.Agent) {
		site := a.(*sites.Site)
		list, more := site.Page(in.Skip, limit)
		for i := range list {
			l := &list[i]
			out.Body.Reservations = append(out.Body.Reservations, api.Reservation{Leg: l.Leg.String(), Job: l.Job, User: l.User,
				Broker: strings.TrimPrefix(string(l.Broker), "broker:"), Site: site.Name(), Group: l.What.Group, Nodes: l.What.Nodes,
				Start: api.Instant(l.What.Start), End: api.Instant(l.What.End), State: l.State.String(), Cost: api.Credits{Credits: l.Fare.Total()}})
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
