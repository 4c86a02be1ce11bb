package broker

import (
	"strconv"
	"strings"
	"text/template"

	"github.com/bourse-grid/bourse/agents/story"
	"github.com/bourse-grid/bourse/grid"
)

// traced prints what a broker's story says and records.
var traced = story.NewWords(`
	Offers: Offers{{if .Refusal.Refused}} refused: {{.Refusal}}{{else}}{{range .Groups}} {{.Group.Name}} {{steps .Admissible}}
		{{if ne (steps .Clear) (steps .Admissible)}} clear {{steps .Clear}}{{end}}{{end}}{{end}}
	OfferRequest: OfferRequest cycle {{.Cycle}} until {{.Horizon}}
	QuoteRequest: QuoteRequest{{if .Together}} together{{end}}{{range .Legs}} {{leg .}}{{end}}
	Quotes: Quotes{{range .Quotes}}{{if .Refusal.Refused}} refused {{.Refusal.Code}}{{else}} {{.Fare.Base}}+{{.Fare.Additive}}{{end}}{{end}}
	Hold: Hold {{.Leg}} {{leg .What}} for {{.Job}}, limit {{.Limit}}
	Held: Held {{.Leg}} at {{.Fare.Total}}
	Refused: Refused {{.Leg}} {{.Step}}: {{.Reason.Code}}
	Settled: Settled {{.Leg}} charged {{.Charged}}
	Prepare Prepared Confirm Confirmed Cancel Cancelled: {{.Kind}} {{.Leg}}
	Release: Release {{.Leg}}{{if .Full}} for all of its price{{end}}
	Answer: Answer {{.Leg}} {{.Verdict}}
	Noted: Noted {{.Leg}} {{.Step}}{{also " " .Shifts}}
	List: List {{.Incarnation}}, known {{.Known}}
	ShiftDeclined: ShiftDeclined {{.Number}} of {{.Leg}}, version {{.Version}}
	Reassert: Reassert {{.Leg.Leg}} was {{.Leg.State}} at {{.Leg.Fare.Total}}
		{{with .Leg.Proof}}{{if .Seq}}, by the proof #{{.Seq}} that it was {{.State}}{{end}}{{end}}{{also ", for " .Leg.Left}}
		{{if or .Leg.Refund .Leg.Penalty}}, refund {{.Leg.Refund}}, penalty {{.Leg.Penalty}}{{end}}
		{{if .Leg.Flex.Due}}, over [{{.Leg.What.Start}}, {{.Leg.What.End}}) within [{{.Leg.Flex.Ready}}, {{.Leg.Flex.Due}}), shift {{.Leg.Shifts}}{{end}}
	SubmitReply: SubmitReply {{.Job}} {{.Reason.Code}}
	JobReply: JobReply {{.Job}} refund {{.Refund}} {{.Reason.Code}}
	OperatorReply: OperatorReply

	terms-read: terms read of {{holders .Holders}}
	terms-granted: terms granted to {{holder .Holder}}, dropped {{.Drop}}
	job-submitted: submitted {{.Job.Name}}
	submission-refused: not taken {{.Job}}: {{.Reason}}
	job-postponed: postponed {{.Job}}{{if .Final}} for good{{end}}: {{.Reason.Code}}: {{.Reason}}
	cycle-closed: cycle {{.Cycle}} closed: batch {{.Batch}}, sites {{.Sites}}, alternatives {{.Alternatives}}, quoted {{.Quoted}}, postponed {{.Postponed}},
		 T* {{.TimeLimit}}, B* {{.BudgetLimit}}, T {{.Time}}, C {{.Cost}}
		{{range .Served}}, served {{.User}}{{if .Used}}, {{.Used}} jobs so far{{end}}{{end}}
	tx-begun: begun {{.Tx}} for {{.Job}}, alternative {{.Alternative}}{{range $i, $p := .Parts}}{{if $i}},{{else}}, legs of{{end}} {{$p}}{{end}}
	leg-priced: priced {{.Leg}} {{.Fare.Total}}{{if .End}} over [{{.Start}}, {{.End}}){{end}}
	leg-shifted: shifted {{.Leg}} to [{{.Start}}, {{.End}}), shift {{.Shifts}}{{if .Fixed}}, fixed{{end}}
	shift-offered: offered {{.Leg}}, {{.Number}}: [{{.Start}}, {{.End}}) within [{{.Ready}}, {{.Due}}) for {{.Pay}} until {{.Expires}}
	offer-closed: offer {{.Number}} of {{.Leg}} closed: {{.State}}{{also ", " .Reason}}
	tx-decided: decided {{.Tx}} {{if .Commit}}COMMIT{{else}}ABORT: {{.Reason}}{{end}}
	leg-proved: proved {{.Leg}} {{.Proof.State}}, #{{.Proof.Seq}}
	word-broken: {{.Site}} has broken its word about {{.Leg}}: {{.Reason}}
	legs-disowned: disowned {{.Legs}} legs of {{.Site}}, the first {{.First}}: {{.Reason}}
	leg-closed: closed {{.Leg}}, posted {{.Posted}}{{if .Claim}}, a claim{{end}}
	leg-done: done {{.Leg}}, refund {{.Refund}}{{also ", penalty " .Penalty}}{{if ne .State.String "settled"}}, {{.State}}{{end}}{{if .Claim}}, a claim{{end}}
	life-begun: life {{.Incarnation}} begun
	life-fenced: fenced by {{.Site}}
	tx-reversed: reversed {{.Tx}} to ABORT: {{.Reason}}
	leg-adopted: adopted {{.Leg}} of {{.Job}} from {{.Site}}: {{.State}} at {{.Fare.Total}}
	amnesia: amnesia, {{or .Site "its own"}}: {{.Legs}}
	job-broken: broken {{.Job}}: {{.Reason}}
	job-cancelled: cancelled {{.Job}}
	tx-forgotten: forgotten {{.Txs}}
	user-barred: {{.Site}} is closed to {{printf "%q" .User}} until {{.Until}}, for {{.Wait}}
	site-joined: joined {{.Site}}
	site-left: left {{.Site}}
	site-lost: lost {{.Site}}: {{.Reason}}
	site-back: back {{.Site}}
	claim-settled: settled the claim for {{.Leg}}, {{.State}}: costs {{.Cost}}
`, template.FuncMap{"steps": steps, "holder": holder, "holders": holders})

func steps(p grid.Profile) string {
	s := make([]string, len(p))
	for i, step := range p {
		s[i] = step.At.String() + ":" + strconv.Itoa(step.Free)
	}
	return strings.Join(s, " ")
}

func holders(list []grid.Holder) string {
	var words []string
	for _, h := range list {
		words = append(words, holder(h))
	}
	return strings.Join(words, "; ")
}

func holder(h grid.Holder) string {
	s := h.Words()
	for _, t := range grid.TermList() {
		if v, ok := h.Terms[t.Name]; ok {
			s += " " + t.Name + "=" + t.Words(v)
		}
	}
	if h.In != "" {
		s += " in " + h.In
	}
	return s
}
