package web

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// counters are the API's own counters.
type counters struct {
	registry *prometheus.Registry

	denied, busy, unanswered, untold, slow prometheus.Counter
	requests                               *prometheus.CounterVec
	requestTime                            *prometheus.HistogramVec

	// For a broker, counted from its facts since this process started.
	transactions *prometheus.CounterVec
	refused      *prometheus.CounterVec
	cycles       *prometheus.CounterVec
	cycleTime    prometheus.Histogram
	alternatives prometheus.Counter
}

func newCounters() *counters {
	c := &counters{registry: prometheus.NewRegistry()}
	one := func(name, help string) prometheus.Counter {
		x := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		c.registry.MustRegister(x)
		return x
	}
	c.denied = one("bourse_api_denied_total", "Requests refused because of their caller.")
	c.busy = one("bourse_api_busy_total", "Requests refused because too many were in progress.")
	c.unanswered = one("bourse_api_unanswered_total", "Requests that the agent did not answer in time.")
	c.untold = one("bourse_api_facts_untold_total", "Facts not shown to event streams and webhooks because they came too fast.")
	c.slow = one("bourse_api_streams_lost_total", "Event streams ended because their readers were too slow.")
	c.requests = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bourse_api_requests_total", Help: "Requests answered, by operation and status."}, []string{"operation", "status"})
	c.requestTime = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "bourse_api_request_seconds",
		Help: "Time of a request, not counting event streams.", Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9)}, []string{"operation"})
	c.registry.MustRegister(c.requests, c.requestTime, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return c
}

// ofBroker adds the counters of a broker.
func (c *counters) ofBroker(a *agent, feed *feed) {
	c.transactions = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bourse_transactions_total",
		Help: "Transactions decided, by decision and the reason of an abort."}, []string{"decision", "reason"})
	c.refused = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bourse_submissions_refused_total",
		Help: "Jobs not accepted, by reason."}, []string{"reason"})
	c.cycles = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bourse_cycles_total",
		Help: "Cycles closed, by whether at least one site answered."}, []string{"answered"})
	c.cycleTime = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bourse_cycle_seconds",
		Help: "Time from a cycle's request for offers to its close.", Buckets: prometheus.ExponentialBuckets(0.005, 2, 14)})
	c.alternatives = prometheus.NewCounter(prometheus.CounterOpts{Name: "bourse_alternatives_total", Help: "Alternatives found."})
	c.registry.MustRegister(c.transactions, c.refused, c.cycles, c.cycleTime, c.alternatives, feed.hooks.Sent, &brokerGauges{a},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "bourse_api_streams", Help: "Event streams open."},
			func() float64 { return float64(feed.open()) }))
}

func (c *counters) decided(f facts.TxDecided) {
	if f.Commit {
		c.transactions.WithLabelValues("commit", "").Inc()
		return
	}
	c.transactions.WithLabelValues("abort", string(f.Reason.Code)).Inc()
}

func (c *counters) cycle(f facts.CycleClosed, took grid.Duration) {
	answered := "no"
	if f.Sites > 0 {
		answered = "yes"
	}
	c.cycles.WithLabelValues(answered).Inc()
	c.alternatives.Add(float64(f.Alternatives))
	if took >= 0 {
		c.cycleTime.Observe(took.Seconds())
	}
}

// brokerGauges reads the broker's state at every scrape, between two steps.
type brokerGauges struct{ *agent }

var (
	gaugeJobs    = prometheus.NewDesc("bourse_jobs", "Jobs that the broker keeps, by state.", []string{"state"}, nil)
	gaugeMoney   = prometheus.NewDesc("bourse_money_credits", "The VO's money: budget, pending, left.", []string{"what"}, nil)
	gaugeSites   = prometheus.NewDesc("bourse_sites", "Sites known, by whether they are asked for offers.", []string{"member"}, nil)
	gaugeAnswers = prometheus.NewDesc("bourse_site_usable", "1 if the site's last answer to a request for offers was usable.", []string{"site"}, nil)
	gaugeState   = prometheus.NewDesc("bourse_site_state", "1 for the present state of each site, as in bourse sites.", []string{"site", "state"}, nil)
	gaugeLost    = prometheus.NewDesc("bourse_site_lost", "1 while the site is lost and its legs are abandoned.", []string{"site"}, nil)
	gaugeSilent  = prometheus.NewDesc("bourse_site_silent_seconds", "How long the site has left questions unanswered.", []string{"site"}, nil)
	gaugeBroken  = prometheus.NewDesc("bourse_site_broken_words_total", "Times that the site has said what cannot be, or has taken back at once what it had confirmed.", []string{"site"}, nil)
	gaugeLast    = prometheus.NewDesc("bourse_site_last", "1 while the site comes last because it has broken its word.", []string{"site"}, nil)
	gaugeStray   = prometheus.NewDesc("bourse_stray_messages_total", "Messages that made no sense.", nil, nil)
	gaugeEarly   = prometheus.NewDesc("bourse_early_words_total", "Times that a peer (a site, or a site's cluster) reported that a leg ran or ended before its window began: a clock is wrong.", nil, nil)
	gaugeFenced  = prometheus.NewDesc("bourse_fenced", "1 if another process acts under this broker's name.", nil, nil)
)

// Describe implements prometheus.Collector.
func (g *brokerGauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{gaugeJobs, gaugeMoney, gaugeSites, gaugeAnswers, gaugeState, gaugeLost, gaugeSilent, gaugeBroken, gaugeLast, gaugeStray, gaugeEarly, gaugeFenced} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. It sends nothing if the broker does not answer
// within two seconds.
func (g *brokerGauges) Collect(ch chan<- prometheus.Metric) {
	ctx, stop := context.WithTimeout(g.base, 2*time.Second)
	defer stop()
	list := make([]prometheus.Metric, 0, 32)
	put := func(d *prometheus.Desc, v float64, labels ...string) {
		list = append(list, prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...))
	}
	err := g.broker(ctx, func(_ grid.Time, b *broker.Broker) {
		count := b.Count()
		for _, state := range grid.JobStates() {
			put(gaugeJobs, float64(count[state]), state.String())
		}
		put(gaugeMoney, b.Budget().Float(), "budget")
		put(gaugeMoney, b.Left().Float(), "left")
		pending := b.Ledger().Account(b.Account()).PendingDebit
		put(gaugeMoney, pending.Float(), "pending")
		members := map[bool]int{}
		for v := range b.Sites() {
			members[v.Member]++
			put(gaugeState, 1, v.Name, siteState(&v))
			if v.Member || v.Lost != nil {
				put(gaugeLost, truth(v.Lost != nil), v.Name)
				put(gaugeSilent, v.Silent.Seconds(), v.Name)
			}
			if v.Member || v.Broken > 0 {
				list = append(list, prometheus.MustNewConstMetric(gaugeBroken, prometheus.CounterValue, float64(v.Broken), v.Name))
				put(gaugeLast, truth(v.Last > 0), v.Name)
			}
			if v.Member && v.Answer != "" {
				put(gaugeAnswers, truth(v.Answer == "usable"), v.Name)
			}
		}
		put(gaugeSites, float64(members[true]), "yes")
		put(gaugeSites, float64(members[false]), "no")
		put(gaugeFenced, truth(b.Stopped()))
		list = append(list, prometheus.MustNewConstMetric(gaugeStray, prometheus.CounterValue, float64(b.Stray())))
		list = append(list, prometheus.MustNewConstMetric(gaugeEarly, prometheus.CounterValue, float64(b.Early())))
	})
	if err != nil {
		return
	}
	for _, m := range list {
		ch <- m
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
