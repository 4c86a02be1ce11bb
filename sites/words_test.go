package sites

import (
	"text/template"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/story"
	"github.com/bourse-grid/bourse/grid"
)

// traced prints what a site's story says and records.
var traced = story.NewWords(`
	Held: Held {{.Leg}} at {{fare .Fare}} version {{.Version}}{{if .End}} over [{{.Start}}, {{.End}}){{end}} {{stamp .Stamp}}
	Shifted: Shifted {{.Leg}} to [{{.Start}}, {{.End}}), shift {{.Shifts}}{{if .Fixed}}, fixed{{end}} {{stamp .Stamp}}
	ShiftOffer: ShiftOffer {{.Number}} for {{.Leg}}, version {{.Version}}: [{{.Start}}, {{.End}}) within [{{.Ready}}, {{.Due}})
		 for {{.Pay}}, open {{.For.Words}} {{stamp .Stamp}}
	Refused: Refused {{.Step}} of {{.Leg}}: {{why .Reason}}{{also ", the latest is " .Latest}}, price {{fare .Fare}} {{stamp .Stamp}}
		{{range .Instead}}{{line}}instead [{{.Start}}, {{.End}}) at {{fare .Fare}}{{end}}
	Prepared Cancelled LegStarted Heuristic Inquire: {{.Kind}} {{.Leg}} {{stamp .Stamp}}
	Confirmed: Confirmed {{.Leg}}{{also ", refund of the old " .Refund}} {{stamp .Stamp}}
	Released: Released {{.Leg}}, refund {{.Refund}} {{stamp .Stamp}}
	Settled: Settled {{.Leg}} at {{.End}}, charged {{.Charged}} {{stamp .Stamp}}
	Degraded: Degraded {{.Leg}}, refund {{.Refund}}, penalty {{.Penalty}}{{also "" (because .Reason.Detail)}} {{stamp .Stamp}}
	Reasserted: Reasserted {{.Leg}}{{refused .Reason}} {{stamp .Stamp}}
	Listing: Listing for incarnation {{.Incarnation}}{{refused .Refusal}}{{also ", the latest is " .Latest}} {{stamp .Stamp}}
		{{range .Legs}}{{line}}{{.Leg}} {{.State}}, {{.What.Nodes}} nodes over [{{.What.Start}}, {{.What.End}}) at {{fare .Fare}}
		{{if .Left}}, {{.Left.Words}} left{{end}}{{if .Flex.Due}}, shift {{.Shifts}} within [{{.Flex.Ready}}, {{.Flex.Due}}){{end}}{{end}}
	Quotes: Quotes{{range .Quotes}} {{fare .Fare}}{{refused .Refusal}}{{end}}
	OperatorReply: OperatorReply to {{.To}}{{refused .Reason}}
	ReloadReply: ReloadReply{{refused .Reason}}{{range .Lost}}, loses {{.}}{{end}}
	ClusterReload: reload{{if .Dry}}, dry{{end}}{{if .Force}}, by force{{end}}
	ClusterReloaded: reloaded{{refused .Refusal}}{{range .Lost}}, loses {{.}}{{end}}
	Offers: Offers of {{len .Groups}} groups{{refused .Refusal}}{{also ", the latest is " .Latest}}

	ClusterMoved: moved {{.Leg}} to [{{.Start}}, {{.End}}){{if .Fixed}}, fixed{{end}}
	ClusterHold: hold {{.Leg}}{{also " beside " .Replaces}}
	ClusterHeld: held {{.Leg}}{{refused .Refusal}}
	ClusterConfirm: confirm {{.Leg}}
	ClusterRelease: release {{.Leg}}
	ClusterStarted: started {{.Leg}}
	ClusterEnded: ended {{.Leg}}
	ClusterLost: lost {{.Leg}}

	leg-moved: leg-moved {{.Leg}} {{.State}}{{also ", refund " .Refund}}{{also ", penalty " .Penalty}}{{if eq .State.String "confirmed"}}{{also ", kept " .Kept}}{{end}}
	shift-offered: shift-offered {{.Leg}}, {{.Number}} for {{.For}}
	offer-closed: offer-closed {{.Leg}}, {{.Number}}: {{.State}}{{refused .Reason}}
	leg-restored: leg-restored {{.Was.Leg}} {{.Was.State}}
	site-begun: site-begun {{.Epoch}}
	life-seen: life-seen {{.Broker}}/{{.Incarnation}} nonce {{.Nonce}}
	life-listed: life-listed {{.Broker}}/{{.Incarnation}}
	tombstone notice-noted: {{.Kind}} {{.Leg}}
	leg-shifted shift-noted: {{.Kind}}
	site-drained: site-drained until {{.Until}}
	site-closed site-opened: {{.Kind}} {{printf "%q" .VO}} {{printf "%q" .User}}
	maintenance-set: maintenance-set {{.Name}} as {{.Leg}}: {{.What.Nodes}} nodes of {{.What.Group}} over [{{.What.Start}}, {{.What.End}})
	nodes-set: nodes-set{{range .Groups}} {{.Nodes}} of {{.Group}}{{end}}{{if .Force}}, by force{{end}}
	setting-changed: setting-changed {{.Key}}: {{.Was}} to {{.Is}}
	maintenance-over: maintenance-over {{.Name}}
	legs-forgotten: legs-forgotten {{.Legs}}
	nodes-down: nodes-down {{.Nodes}} of {{.Group}} until {{.Until}}
`, template.FuncMap{"why": why, "refused": refusal, "because": because,
	"line": func() string { return "\n            " }})

// why leaves out who is in the way: another package's words.
func why(r grid.Reason) string {
	if r.Code == grid.Busy {
		return string(r.Code)
	}
	return string(r.Code) + " (" + r.String() + ")"
}

func refusal(r grid.Reason) string {
	if !r.Refused() {
		return ""
	}
	return ", refused: " + why(r)
}

// spoken is how brokers and operators speak in the stories.
var spoken = story.Language{
	Leg: legNamed,
	Kinds: map[string]string{"decline": "ShiftDeclined", "offers": "OfferRequest", "quote": "QuoteRequest",
		"maintain": "Maintenance", "unmaintain": "MaintenanceCancel"},
	Fields: map[string]string{"by": "DecidedBy Incarnation", "inc": "Incarnation", "twin": "Nonce", "shift": "Shifts", "reassert end": "Leg.What.End"},
	Values: map[string]any{"wait": agents.Wait, "commit": agents.Commit, "abort": agents.Abort, "unknown": agents.Unknown},
	Usual: map[string]agents.Message{
		"Hold":          agents.Hold{What: oneNode, Job: "job", Limit: 1000 * grid.Credit, For: 30 * grid.Second},
		"Prepare":       agents.Prepare{For: 15 * grid.Minute},
		"List":          agents.List{Broker: "vo1", Incarnation: 1},
		"ShiftDeclined": agents.ShiftDeclined{Number: 1, Version: 1},
		"Reassert":      agents.Reassert{Leg: agents.ListedLeg{What: oneNode, Job: "job", Version: 1}},
		"Maintenance":   agents.Maintenance{Group: "main"},
	},
	Ours: []string{"from", "times", "proof", "of", "heard"},
}

var oneNode = grid.Leg{Group: "main", Nodes: 1}
