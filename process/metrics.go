package process

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live"
)

// processMetrics collects the metrics around an agent: host, journals, network, guard,
// certificate. Counts begin with the process.
type processMetrics struct{ p *process }

// Describe leaves the collector unchecked: its metrics depend on the present agents and
// peers.
func (processMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect reads all counts at one time.
func (m processMetrics) Collect(ch chan<- prometheus.Metric) {
	m.host(ch, m.p.host.Stats())
	waits := 0.0
	if len(m.p.members()) > 0 && m.p.waiting() != nil {
		waits = 1
	}
	gauge(ch, "bourse_process_waits", "1 while the agents of the process have not begun: it compares its clock, and /readyz says with whom.", waits)
	if m.p.reloads.again != nil {
		unread := 0.0
		if m.p.reloads.refused.Load() {
			unread = 1
		}
		gauge(ch, "bourse_file_refused", "1 while the process's file is one that it refused when it last read it again: no start would go by it either.", unread)
	}
	m.mirrors(ch, m.p.journals.twice)
	for _, x := range m.p.members() {
		m.member(ch, x)
	}
	if m.p.vos == nil {
		return
	}
	m.certificate(ch, m.p.store, "vo", m.p.store.Identity().VO)
	const unsent = "Messages to brokers that were not sent, by cause: to a VO that is not served, or naming something of another VO."
	s := m.p.vos.Stats()
	count(ch, "bourse_vo_unsent_total", unsent, s.Nobody, "cause", "nobody")
	count(ch, "bourse_vo_unsent_total", unsent, s.Foreign, "cause", "foreign")
	for vo, n := range s.Held {
		count(ch, "bourse_vo_held_total", "Messages of a VO that were not accepted, mostly because it has used up its part of the mailbox.", n, "vo", vo)
		gauge(ch, "bourse_vo_waiting", "Messages of a VO in the mailbox.", float64(s.Waiting[vo]), "vo", vo)
	}
}

// member collects the metrics of one VO, labelled by its name if there are several.
func (m processMetrics) member(ch chan<- prometheus.Metric, x *membership) {
	var of []string
	if x.vo != "" {
		of = []string{"vo", x.vo}
	}
	m.network(ch, x.node.Stats(), of...)
	if x.guard != nil {
		for cause, n := range x.guard.Stats() {
			count(ch, "bourse_guard_refused_total", "Envelopes of peers that the guard refused, by cause.", n, append(of, "cause", string(cause))...)
		}
	}
	if x.store != nil {
		m.certificate(ch, x.store, of...)
	}
}

func (processMetrics) certificate(ch chan<- prometheus.Metric, s *certificate.Store, of ...string) {
	gauge(ch, "bourse_certificate_seconds_left", "Seconds until the process's certificate expires.", time.Until(s.Expires()).Seconds(), of...)
}

func (m processMetrics) host(ch chan<- prometheus.Metric, s live.Stats) {
	const dropped = "Messages from the network that were not delivered to an agent, by cause."
	for _, d := range []struct {
		cause string
		n     uint64
	}{{"unknown", s.Unknown}, {"barred", s.Barred}, {"nobody", s.Nobody}, {"full", s.Full}, {"waiting", s.Waiting}, {"stopping", s.Stopping}, {"unsendable", s.Unsendable}} {
		count(ch, "bourse_host_dropped_total", dropped, d.n, "cause", d.cause)
	}
	count(ch, "bourse_host_envelopes_total", "Envelopes to and from the network.", s.In, "way", "in")
	count(ch, "bourse_host_envelopes_total", "Envelopes to and from the network.", s.Out, "way", "out")
	gauge(ch, "bourse_host_asks", "Questions of callers that are waiting for an answer.", float64(s.Asks))
	gauge(ch, "bourse_host_clock_ahead_seconds", "How far the wall clock is ahead of the process's.", s.Ahead.Seconds())
	for _, a := range s.Agents {
		count(ch, "bourse_agent_steps_total", "Messages handled.", a.Steps, "agent", a.ID)
		count(ch, "bourse_agent_facts_total", "Facts recorded.", a.Facts, "agent", a.ID)
		count(ch, "bourse_agent_sends_total", "Messages sent.", a.Sends, "agent", a.ID)
		count(ch, "bourse_agent_refused_total", "Messages refused because the mailbox was full or the agent had ended.", a.Dropped, "agent", a.ID)
		count(ch, "bourse_agent_quarantined_total", "Messages refused because the agent has panicked on the same message before.", a.Refused, "agent", a.ID)
		count(ch, "bourse_journal_syncs_total", "Syncs of the journal.", a.Syncs, "agent", a.ID)
		count(ch, "bourse_journal_images_total", "Images with which the journal began a new segment.", a.Images, "agent", a.ID)
		gauge(ch, "bourse_agent_waiting", "Messages in the mailbox.", float64(a.Waiting), "agent", a.ID)
		gauge(ch, "bourse_agent_alarms", "Alarms set.", float64(a.Alarms), "agent", a.ID)
		histogram(ch, "bourse_agent_step_seconds", "Time of a step.", a.Step, a.ID)
		histogram(ch, "bourse_journal_sync_seconds", "Time of a sync.", a.Sync, a.ID)
		histogram(ch, "bourse_journal_batch_steps", "Steps made durable by one sync.", a.Batch, a.ID)
	}
	m.drivers(ch, s.Drivers)
}

func (processMetrics) mirrors(ch chan<- prometheus.Metric, list []*mirrored) {
	for _, m := range list {
		s := m.disk.State()
		current, behind := 1.0, 0.0
		if !s.Current {
			current, behind = 0, time.Since(s.Since).Seconds()
		}
		gauge(ch, "bourse_mirror_current", "1 while the second copy of the journal is complete, else 0.", current, "agent", string(m.agent))
		gauge(ch, "bourse_mirror_behind_seconds", "How long the second copy of the journal has been behind.", behind, "agent", string(m.agent))
		count(ch, "bourse_mirror_failures_total", "Times that the second copy of the journal fell behind.", s.Failures, "agent", string(m.agent))
	}
}

func (processMetrics) drivers(ch chan<- prometheus.Metric, list []live.DriverStats) {
	for _, d := range list {
		count(ch, "bourse_driver_calls_total", "Calls of a cluster's driver, by kind of message.", d.Done, "driver", d.ID, "kind", d.Kind)
		count(ch, "bourse_driver_failed_total", "Calls of a driver that panicked.", d.Failed, "driver", d.ID, "kind", d.Kind)
		count(ch, "bourse_driver_dropped_total", "Messages to a driver that were dropped because too many were waiting.", d.Dropped, "driver", d.ID, "kind", d.Kind)
		gauge(ch, "bourse_driver_waiting", "Messages waiting for a driver.", float64(d.Waiting), "driver", d.ID, "kind", d.Kind)
	}
}

func (processMetrics) network(ch chan<- prometheus.Metric, s live.NodeStats, of ...string) {
	gauge(ch, "bourse_gossip_members", "Agents that gossip considers alive.", float64(s.Members), of...)
	gauge(ch, "bourse_gossip_health", "Gossip's health score of this process; 0 is best.", float64(s.Health), of...)
	count(ch, "bourse_gossip_garbage_total", "Gossip messages that could not be read.", s.Garbage, of...)
	for cause, n := range s.Complaints {
		count(ch, "bourse_gossip_complaints_total", "Problems that gossip reported, by cause: packets under another key or of another VO, peers that could not be told.", n, append(of, "cause", string(cause))...)
	}
	count(ch, "bourse_gossip_rivals_total", "Times that gossip reported another process under this agent's name.", s.Rivals, of...)
	count(ch, "bourse_gossip_doubted_total", "Times that gossip reported a process that did not answer at its address with its certificate.", s.Doubted, of...)
	const lost = "Envelopes that did not reach a peer, by cause."
	l := s.Links
	for _, d := range []struct {
		cause string
		n     uint64
	}{{"unknown", l.Unknown}, {"large", l.Large}, {"full", l.Full}, {"lost", l.Lost}, {"dead", s.Dead}} {
		count(ch, "bourse_link_lost_total", lost, d.n, append(of, "cause", d.cause)...)
	}
	count(ch, "bourse_link_sent_total", "Envelopes accepted for sending.", l.Sent, of...)
	count(ch, "bourse_link_taken_total", "Envelopes from peers that the host accepted.", l.Taken, of...)
	count(ch, "bourse_link_refused_total", "Envelopes from peers that the host did not accept.", l.Refused, of...)
	count(ch, "bourse_link_stray_total", "Messages that are neither a parcel nor an acknowledgement.", l.Stray, of...)
	for _, p := range l.Peers {
		gauge(ch, "bourse_link_under_way", "Envelopes sent that the peer has not acknowledged.", float64(p.UnderWay), append(of, "peer", string(p.Agent))...)
		gauge(ch, "bourse_link_waiting", "Envelopes waiting to be sent to the peer.", float64(p.Waiting), append(of, "peer", string(p.Agent))...)
	}
}

// count sends a counter. Labels are names, each followed by its value.
func count(ch chan<- prometheus.Metric, name, help string, n uint64, label ...string) {
	metric(ch, prometheus.CounterValue, name, help, float64(n), label)
}

// gauge sends a gauge. Labels are as in count.
func gauge(ch chan<- prometheus.Metric, name, help string, n float64, label ...string) {
	metric(ch, prometheus.GaugeValue, name, help, n, label)
}

func metric(ch chan<- prometheus.Metric, kind prometheus.ValueType, name, help string, n float64, label []string) {
	var names, values []string
	for ; len(label) > 1; label = label[2:] {
		names, values = append(names, label[0]), append(values, label[1])
	}
	ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, n, values...)
}

func histogram(ch chan<- prometheus.Metric, name, help string, h live.Histogram, agent string) {
	buckets := make(map[float64]uint64, len(h.Bounds))
	var upTo uint64
	for i, b := range h.Bounds {
		upTo += h.Counts[i]
		buckets[b] = upTo
	}
	ch <- prometheus.MustNewConstHistogram(prometheus.NewDesc(name, help, []string{"agent"}, nil), h.Count, h.Sum, buckets, agent)
}
