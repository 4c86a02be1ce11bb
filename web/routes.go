package web

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/sse"
)

// The routes of both APIs: each operation with what docs/API.md says of it, and what
// answers it.

// route registers one operation.
type route func(huma.API)

// to is the route of an operation to what answers it.
func to[I, O any](op huma.Operation, answer func(context.Context, *I) (*O, error)) route {
	return func(api huma.API) { huma.Register(api, op, answer) }
}

// onRecord is what the operations of operators have in common.
const onRecord = " For operators. Answered once it is on record; the same again changes nothing."

// brokerRoutes are the operations of a broker. body is the most bytes of a request.
func brokerRoutes(body int64, j *jobs, b *batches, x *explanations, c *changes, s *streams, m *money, g *group) []route {
	return []route{
		// Jobs.
		to(huma.Operation{
			OperationID: "submit", Method: http.MethodPost, Path: "/v1/batches", Tags: []string{"jobs"},
			Summary: "Submit a batch of jobs",
			Description: "The same batch again, under the same identity, changes nothing and gets the same answer; jobs that were not taken " +
				"are tried again. Other content under an identity that is known of one of its users is refused; another user's identities are never in the way. Either every job makes sense or none is taken; whether the " +
				"broker takes each of them (its queue may be full) is said job by job.",
			MaxBodyBytes: 4 * body,
			Errors:       []int{401, 403, 409, 413, 503},
		}, b.submit),
		to(huma.Operation{
			OperationID: "jobs", Method: http.MethodGet, Path: "/v1/jobs", Tags: []string{"jobs"}, Summary: "List jobs, the newest first",
			Description: "Users see their own, operators all. A page may be shorter than its limit, even empty, while there is a next one: " +
				"looking for a rare state is cut into bounded steps.",
			Errors: []int{401, 403, 503},
		}, j.page),
		to(huma.Operation{
			OperationID: "job", Method: http.MethodGet, Path: "/v1/jobs/{id}", Tags: []string{"jobs"}, Summary: "Show a job",
			Description: "A name that several jobs have is answered 409 with their identities.", Errors: []int{401, 403, 404, 409, 503},
		}, j.show),
		to(huma.Operation{
			OperationID: "output", Method: http.MethodGet, Path: "/v1/jobs/{id}/output", Tags: []string{"jobs"}, Summary: "Read what a job has printed",
			Description: "Of one leg, from its cluster, at most 64 KiB at a time; nothing of it is kept on the way. 409: the job has no window yet or no work, " +
				"or the site is not reachable or keeps no output; the answer says which.", Errors: []int{401, 403, 404, 409, 503},
		}, j.output),
		to(huma.Operation{
			OperationID: "cancel", Method: http.MethodDelete, Path: "/v1/jobs/{id}", Tags: []string{"jobs"}, Summary: "Give a job up",
			Description: "The wish is recorded before the answer. 200: every site has given its leg back, and the refund is known. " +
				"202: that goes on by itself; ask again to hear of the refund.", Errors: []int{401, 403, 404, 409, 503},
			Responses: map[string]*huma.Response{"202": {Description: "Recorded; its sites have not all answered yet"}},
		}, j.cancel),
		to(huma.Operation{
			OperationID: "explain", Method: http.MethodGet, Path: "/v1/jobs/{id}/explanation", Tags: []string{"jobs"},
			Summary: "Say why a job stands where it stands",
			Description: "From the broker's journal, in the time that it takes to read what was recorded since the job was submitted. " +
				"Of what sites offered in cycles without the job, only the latest sixteen are looked at. Few are answered at once: 429 and 503 say when to come again.",
			Errors: []int{401, 403, 404, 409, 503, 429, 501},
		}, x.explain),
		to(huma.Operation{
			OperationID: "modify", Method: http.MethodPatch, Path: "/v1/jobs/{id}", Tags: []string{"jobs"}, Summary: "Ask for another window for a placed job",
			Description: "Both or neither: the old window stands until the new one is confirmed, and what it has cost comes back up to the new price. " +
				"Where only the choice differs that a job on one site leaves it, the job stays where it lies: more choice is cheaper, less costs a surcharge. " +
				"What the site's schedule would have kept of the old window is kept of the new one, however early that is given up. " +
				"Asking for what there is already changes nothing. 409: there is no such window, the job has none that waits to start, " +
				"or another change of it is under way, a repair included; the answer says which.",
			Errors: []int{401, 403, 404, 409, 422, 503},
		}, c.modify),
		to(huma.Operation{
			OperationID: "job-offers", Method: http.MethodGet, Path: "/v1/jobs/{id}/offers", Tags: []string{"jobs"},
			Summary: "List what sites offer for a job's place",
			Description: "A site may ask for the place of a job that lies on it alone, for another one nearby and a payment, " +
				"so that somebody else fits in. Nothing changes unless the offer is accepted in time.",
			Errors: []int{401, 403, 404, 409, 503},
		}, c.shiftOffers),
		to(huma.Operation{
			OperationID: "answer-offer", Method: http.MethodPost, Path: "/v1/jobs/{id}/offers", Tags: []string{"jobs"},
			Summary: "Accept or reject what a site offers for a job's place",
			Description: "Accepted, the job is had again where it was offered, for its price less the payment, and what it has cost comes back: " +
				"both or neither. The accounts have to cover the new price beside the old one. The same answer again changes nothing. " +
				"409: the offer is over, or the place cannot be had any more.",
			Errors: []int{401, 403, 404, 409, 503, 422},
		}, c.answerShift),
		func(api huma.API) {
			sse.Register(api, huma.Operation{
				OperationID: "events", Method: http.MethodGet, Path: eventsPath, Tags: []string{"jobs"}, Summary: "Follow the turns of jobs",
				Description: "Server-sent events. With a job, the first event is its present state; then come turns as they are recorded. " +
					"A stream that breaks is opened anew, and the state read again: no turn is sent twice, and those between are not sent. " +
					"A reader who lets 256 turns wait is let go with a last event, lost. A stream ends within 2 s after its caller's certificate " +
					"has expired or the broker's list says that it is revoked, with a last event, denied, that says why.",
				Errors:      []int{401, 403, 404, 409, 429},
				Middlewares: huma.Middlewares{s.opened},
			}, map[string]any{"job": Job{}, "turn": Turn{}, "alive": Alive{}, "lost": Lost{}, "denied": Denied{}}, s.follow)
		},

		// Sites, offers and money.
		to(huma.Operation{
			OperationID: "sites", Method: http.MethodGet, Path: "/v1/sites", Tags: []string{"market"},
			Summary: "List the sites", Description: "With what they offered when they were last asked.", Errors: []int{401, 403, 503},
		}, m.sites),
		to(huma.Operation{
			OperationID: "lose-site", Method: http.MethodPost, Path: "/v1/sites/{site}/lost", Tags: []string{"operating"},
			Summary: "Give a site up that will not come back", Description: "All its legs are repaired or refunded. If it comes back, it is told to release what it still carries; it is not used before this is taken back." + onRecord,
			MaxBodyBytes: body, Errors: []int{401, 403, 404, 422, 503},
		}, m.lose),
		to(huma.Operation{
			OperationID: "find-site", Method: http.MethodDelete, Path: "/v1/sites/{site}/lost", Tags: []string{"operating"},
			Summary: "Take back that a site is lost", Description: "It is used again once it has listed its legs. What was given up stays so." + onRecord, Errors: []int{401, 403, 404, 422, 503},
		}, m.find),
		to(huma.Operation{
			OperationID: "offers", Method: http.MethodGet, Path: "/v1/offers", Tags: []string{"market"},
			Summary: "Show what the sites offered", Description: "When they were last asked, which is when a cycle last had jobs to place. Data of that moment, no promise; sites that have left are not shown.",
			Errors: []int{401, 403, 503, 404},
		}, m.offers),
		to(huma.Operation{
			OperationID: "reservations", Method: http.MethodGet, Path: "/v1/reservations", Tags: []string{"market"},
			Summary: "List the legs that are committed and not over", Errors: []int{401, 403, 503},
		}, m.reservations),
		to(huma.Operation{
			OperationID: "accounts", Method: http.MethodGet, Path: "/v1/accounts", Tags: []string{"money"},
			Summary: "Show budget, spending and quotas", Errors: []int{401, 403, 503},
		}, m.accounts),
		to(huma.Operation{
			OperationID: "deposit", Method: http.MethodPost, Path: "/v1/accounts/deposits", Tags: []string{"money"},
			Summary: "Pay into the VO's account", Description: "409: the key is that of another sum." + onRecord,
			MaxBodyBytes: body, Errors: []int{401, 403, 409, 422, 503},
		}, m.deposit),
		to(huma.Operation{
			OperationID: "tenancy", Method: http.MethodGet, Path: "/v1/tenancy", Tags: []string{"money"},
			Summary: "Show shares, bounds and priorities of users and tenants", Errors: []int{401, 403, 503},
		}, m.tenancy),
		to(huma.Operation{
			OperationID: "grant", Method: http.MethodPost, Path: "/v1/tenancy", Tags: []string{"operating"},
			Summary: "Set the terms of a user or a tenant", Description: "Term by term they count more than the broker's file, until they are dropped." + onRecord,
			MaxBodyBytes: body, Errors: []int{401, 403, 409, 422, 503},
		}, m.grant),
		to(huma.Operation{
			OperationID: "statement", Method: http.MethodGet, Path: "/v1/accounts/statement", Tags: []string{"money"},
			Summary: "List what has moved the VO's money",
			Description: "From the broker's journal, in the time that it takes to read it. Users see the lines of their own jobs, operators all. " +
				"Few are answered at once: 429 and 503 say when to come again.",
			Errors: []int{401, 403, 422, 429, 501, 503},
		}, m.statement),
		to(huma.Operation{
			OperationID: "replicas", Method: http.MethodGet, Path: "/v1/replicas", Tags: []string{"operating"},
			Summary: "List the processes that hold the broker", Description: "As the one that leads knows them; with here=true as the one knows that is asked, which then need not lead. For operators. 501: one process holds it.", Errors: []int{401, 403, 501, 503},
		}, g.replicas),
		to(huma.Operation{
			OperationID: "replace-replica", Method: http.MethodPost, Path: "/v1/replicas", Tags: []string{"operating"},
			Summary: "Have a new process take the place of one that is gone for good",
			Description: "One at a time. The new one need not run yet: it is sent all that there is once it does. " +
				"409: another member is being replaced. 422: the one is no member, or the other is one already." + onRecord,
			MaxBodyBytes: body, Errors: []int{401, 403, 409, 422, 501, 503},
		}, g.replace),
	}
}

// siteRoutes are the operations of a site. body is the most bytes of a request.
func siteRoutes(body int64, s *ownSite) []route {
	show := func(id, path, summary, about string) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodGet, Path: path, Tags: []string{"site"}, Summary: summary, Description: about,
			Errors: []int{403, 503}}
	}
	operate := func(id, method, path, summary, about string) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: path, Tags: []string{"operating"}, Summary: summary,
			Description: about + onRecord, MaxBodyBytes: body,
			Errors: []int{403, 503, 409, 422}}
	}
	return []route{
		to(show("site", "/v1/site", "Show how the site stands", ""), s.state),
		to(show("site-offers", "/v1/offers", "Show what is free over the next seven days", ""), s.offers),
		to(show("site-reservations", "/v1/reservations", "List the legs that hold nodes",
			"Of all brokers, in order of their holds. For operators."), s.reservations),
		to(operate("drain", http.MethodPost, "/v1/drain", "Take nothing new",
			"Offers and new legs are refused until then; what is held, committed or runs goes on, and so do local jobs. A later drain takes the place of an earlier one."), s.drain),
		to(operate("resume", http.MethodDelete, "/v1/drain", "End a drain", "New legs are taken again."), s.resume),
		to(operate("maintenance", http.MethodPost, "/v1/maintenance", "Take nodes out of service over a window",
			"Nothing is offered or started on them. Where running jobs or reservations are in the way it is refused, unless forced."), s.maintain),
		to(operate("cancel-maintenance", http.MethodDelete, "/v1/maintenance/{name}", "Give the nodes of a maintenance back",
			"Before or during its window."), s.cancelMaintenance),
		to(operate("close", http.MethodPost, "/v1/close", "Take nothing new of a VO or a user",
			"Of a VO, of a user of any VO, or of that user of that VO. What they hold goes on."), s.close),
		to(huma.Operation{
			OperationID: "reload", Method: http.MethodPost, Path: "/v1/reload", Tags: []string{"operating"},
			Summary: "Read the site's file again",
			Description: "VOs are taken in and let go, and shares, accounts and revoked certificates changed, without a restart; the answer says what, and what takes one. " +
				"For operators. 409: the file cannot be used as it is; nothing has changed then.",
			MaxBodyBytes: body, Errors: []int{403, 409, 501, 503},
		}, s.reload),
		to(operate("open", http.MethodPost, "/v1/open", "End a close", "Of the same VO and user."), s.open),
	}
}
