package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/bourse-grid/bourse/web/api"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/sse"
)

// The routes of both APIs: each operation with its description for docs/API.md, and its
// handler.

// route registers one operation.
type route func(huma.API)

// to is the route of an operation to its handler.
func to[I, O any](op huma.Operation, answer func(context.Context, *I) (*O, error)) route {
	return func(a huma.API) { huma.Register(a, op, answer) }
}

// onRecord is the common description of the operators' operations.
const onRecord = " Only for operators. Answered once it is recorded; repeating it changes nothing."

// brokerRoutes are the operations of a broker. body is the most bytes of a request.
func brokerRoutes(body int64, j *jobs, b *batches, q *quotes, x *explanations, c *changes, s *streams, m *money, g *group) []route {
	return slices.Concat(batchRoutes(body, b, q), jobRoutes(j, x, c), turnRoutes(c, s), marketRoutes(body, m), groupRoutes(body, g))
}

// batchRoutes are the operations about jobs that are not submitted yet.
func batchRoutes(body int64, b *batches, q *quotes) []route {
	return []route{
		to(huma.Operation{
			OperationID: "submit", Method: http.MethodPost, Path: "/v1/batches", Tags: []string{"jobs"},
			Summary: "Submit a batch of jobs",
			Description: "Repeating a batch with the same identity changes nothing and gets the same answer, but jobs that were not accepted " +
				"are tried again. Different content is refused under an identity that one of the batch's users has used; identities of other users do not matter. If any job is invalid, all are refused. Otherwise " +
				"the answer says for each job whether the broker accepted it (its queue may be full).",
			MaxBodyBytes: 4 * body,
			Errors:       []int{401, 403, 409, 413, 503},
		}, b.submit),
		to(huma.Operation{
			OperationID: "quote", Method: http.MethodPost, Path: "/v1/quotes", Tags: []string{"jobs"}, Summary: "Say what jobs would get, without submitting them",
			Description: "The broker asks its sites what is free, unless they have said so within ten seconds, and plans the jobs as its next cycle would if they were its only ones. " +
				"Beside that it says what they would get half an hour later, and on other sites. Nothing is held or recorded. The prices of windows for whose nodes other jobs wait are base prices; see atLeast. " +
				"A caller may ask 60 times in a minute (429), for at most 100 jobs at a time.",
			MaxBodyBytes: 4 * body,
			Errors:       []int{401, 403, 413, 422, 429, 503},
		}, q.quote),
	}
}

// jobRoutes are the operations about jobs.
func jobRoutes(j *jobs, x *explanations, c *changes) []route {
	return []route{
		to(huma.Operation{
			OperationID: "jobs", Method: http.MethodGet, Path: "/v1/jobs", Tags: []string{"jobs"}, Summary: "List jobs, the newest first",
			Description: "Users see their own jobs, operators all. A page may be shorter than its limit, even empty, although there is a next one, " +
				"because a search for a rare state is cut into bounded steps.",
			Errors: []int{401, 403, 503},
		}, j.page),
		to(huma.Operation{
			OperationID: "job", Method: http.MethodGet, Path: "/v1/jobs/{id}", Tags: []string{"jobs"}, Summary: "Show a job",
			Description: "409: several jobs have that name; the answer lists their identities.", Errors: []int{401, 403, 404, 409, 503},
		}, j.show),
		to(huma.Operation{
			OperationID: "output", Method: http.MethodGet, Path: "/v1/jobs/{id}/output", Tags: []string{"jobs"}, Summary: "Read what a job has printed",
			Description: "The output of one leg, read from its cluster, at most 64 KiB at a time; nothing is kept on the way. 409: the job has no window yet or no work, " +
				"or the site is unreachable or keeps no output; the answer says which.", Errors: []int{401, 403, 404, 409, 503},
		}, j.output),
		to(huma.Operation{
			OperationID: "files", Method: http.MethodGet, Path: "/v1/jobs/{id}/files", Tags: []string{"jobs"}, Summary: "List the files of a job's work",
			Description: "The regular files of the folder in which the work of one leg began, read from its cluster with the rights of its account. " +
				"409: as for output. 404: the site keeps them no more.", Errors: []int{401, 403, 404, 409, 422, 503},
		}, j.files),
		to(huma.Operation{
			OperationID: "file", Method: http.MethodGet, Path: "/v1/jobs/{id}/file", Tags: []string{"jobs"}, Summary: "Read a file of a job's work",
			Description: "At most 64 KiB at a time, of a file of at most 256 MiB. Links are not followed, and no path leads out of the folder. 503: a site hands out at most 32 pieces a second.",
			Errors:      []int{401, 403, 404, 409, 422, 503},
		}, j.file),
		to(huma.Operation{
			OperationID: "file-digest", Method: http.MethodGet, Path: "/v1/jobs/{id}/digest", Tags: []string{"jobs"}, Summary: "Read the SHA-256 of a file of a job's work",
			Description: "Computed at its cluster. A file that changes meanwhile has none (404).", Errors: []int{401, 403, 404, 409, 422, 503},
		}, j.digest),
		to(huma.Operation{
			OperationID: "cancel", Method: http.MethodDelete, Path: "/v1/jobs/{id}", Tags: []string{"jobs"}, Summary: "Cancel a job",
			Description: "The cancellation is recorded before the answer. 200: every site has released its leg, and the refund is known. " +
				"202: that is still in progress; repeat the request to get the refund.", Errors: []int{401, 403, 404, 409, 503},
			Responses: map[string]*huma.Response{"202": {Description: "Recorded; its sites have not all answered yet"}},
		}, j.cancel),
		to(huma.Operation{
			OperationID: "explain", Method: http.MethodGet, Path: "/v1/jobs/{id}/explanation", Tags: []string{"jobs"},
			Summary: "Explain the state of a job",
			Description: "From the broker's journal; it takes as long as reading the records since the job's submission. " +
				"Of the offers in cycles without the job, only the latest sixteen are used. Only a few requests are answered at once: 429 and 503 say when to try again.",
			Errors: []int{401, 403, 404, 409, 503, 429, 501},
		}, x.explain),
		to(huma.Operation{
			OperationID: "modify", Method: http.MethodPatch, Path: "/v1/jobs/{id}", Tags: []string{"jobs"}, Summary: "Ask for another window for a placed job",
			Description: "The job keeps its old window until the new one is confirmed; then the old price is credited, up to the new price. " +
				"If only the freedom changes that a job leaves its single site, the job keeps its window: more freedom is cheaper, less costs a surcharge. " +
				"What the site's schedule would have kept of the old window is kept of the new one, however early that is cancelled. " +
				"Asking for what the job already has changes nothing. 409: there is no such window, the job has no window that is yet to start, " +
				"or another change of the job, such as a repair, is in progress; the answer says which.",
			Errors: []int{401, 403, 404, 409, 422, 503},
		}, c.modify),
	}
}

// turnRoutes are the operations about what others do to a job: offers to shift it, and its events.
func turnRoutes(c *changes, s *streams) []route {
	return []route{
		to(huma.Operation{
			OperationID: "job-offers", Method: http.MethodGet, Path: "/v1/jobs/{id}/offers", Tags: []string{"jobs"},
			Summary: "List what sites offer for shifting a job",
			Description: "A site may offer a payment and another window nearby for a job that runs only there, " +
				"to make room for someone else. Nothing changes unless the offer is accepted in time.",
			Errors: []int{401, 403, 404, 409, 503},
		}, c.shiftOffers),
		to(huma.Operation{
			OperationID: "answer-offer", Method: http.MethodPost, Path: "/v1/jobs/{id}/offers", Tags: []string{"jobs"},
			Summary: "Accept or reject a site's offer for shifting a job",
			Description: "If accepted, the job gets the offered window for its price less the payment, and its old price is refunded: " +
				"both happen or neither. The accounts must cover the new price in addition to the old one. Repeating an answer changes nothing. " +
				"409: the offer has expired, or the window is no longer free.",
			Errors: []int{401, 403, 404, 409, 503, 422},
		}, c.answerShift),
		func(a huma.API) {
			sse.Register(a, huma.Operation{
				OperationID: "events", Method: http.MethodGet, Path: eventsPath, Tags: []string{"jobs"}, Summary: "Follow the events of jobs",
				Description: "Server-sent events. With a job, the first event is its present state; then events follow as they are recorded. " +
					"Each has an id. If the stream breaks, open a new one with the last id in Last-Event-ID, as EventSource does by itself: it begins with the events since, " +
					"none twice and none left out, and without the state of its job. An id is good as long as the process that has given it serves, and for the last 4,096 events " +
					"of all users (fewer if they have more than 20,000 legs). Otherwise the stream begins with the event missed, which says why, and goes on with those to come: read the state. " +
					"So it is after a restart of the broker and after a change of its leader. An event missed in the middle says that some came too fast to be told. " +
					"If 256 events are waiting for a reader, the stream ends with a last event, lost. A stream ends within 2 s after its caller's certificate " +
					"expires or is revoked, with a last event, denied, that says why.",
				Errors:      []int{401, 403, 404, 409, 429},
				Middlewares: huma.Middlewares{s.opened},
			}, map[string]any{"job": api.Job{}, "turn": api.Turn{}, "alive": api.Alive{}, "missed": api.Missed{}, "lost": api.Lost{}, "denied": api.Denied{}}, s.follow)
			textIDs(a.OpenAPI().Paths[eventsPath].Get)
		},
	}
}

// marketRoutes are the operations about sites, offers and money.
func marketRoutes(body int64, m *money) []route {
	return []route{
		to(huma.Operation{
			OperationID: "sites", Method: http.MethodGet, Path: "/v1/sites", Tags: []string{"market"},
			Summary: "List the sites", Description: "With their offers when last asked.", Errors: []int{401, 403, 503},
		}, m.sites),
		to(huma.Operation{
			OperationID: "site-stake", Method: http.MethodGet, Path: "/v1/sites/{site}/lost", Tags: []string{"operating"},
			Summary: "Say what declaring a site lost would do", Description: "Nothing is done.", Errors: []int{401, 403, 404, 422, 503},
		}, m.stake),
		to(huma.Operation{
			OperationID: "lose-site", Method: http.MethodPost, Path: "/v1/sites/{site}/lost", Tags: []string{"operating"},
			Summary: "Declare a site lost that will not come back", Description: "All its legs are repaired or refunded. Jobs that fit nowhere without it wait for a horizon, and are then abandoned. If it comes back, it is told to release what it still carries. It is not used until this is taken back." + onRecord,
			MaxBodyBytes: body, Errors: []int{401, 403, 404, 422, 503},
		}, m.lose),
		to(huma.Operation{
			OperationID: "find-site", Method: http.MethodDelete, Path: "/v1/sites/{site}/lost", Tags: []string{"operating"},
			Summary: "Use a lost site again", Description: "It is used again once it has listed its legs. Legs that the broker has abandoned stay so; jobs that wait may get windows there again." + onRecord, Errors: []int{401, 403, 404, 422, 503},
		}, m.find),
		to(huma.Operation{
			OperationID: "offers", Method: http.MethodGet, Path: "/v1/offers", Tags: []string{"market"},
			Summary: "Show what the sites offered", Description: "When they were last asked, in the last cycle that had jobs to place. The data is of that moment and not a promise. Sites that have left are not shown.",
			Errors: []int{401, 403, 503, 404},
		}, m.offers),
		to(huma.Operation{
			OperationID: "reservations", Method: http.MethodGet, Path: "/v1/reservations", Tags: []string{"market"},
			Summary: "List the committed legs that have not ended", Errors: []int{401, 403, 503},
		}, m.reservations),
		to(huma.Operation{
			OperationID: "accounts", Method: http.MethodGet, Path: "/v1/accounts", Tags: []string{"money"},
			Summary: "Show budget, spending and quotas", Errors: []int{401, 403, 503},
		}, m.accounts),
		to(huma.Operation{
			OperationID: "deposit", Method: http.MethodPost, Path: "/v1/accounts/deposits", Tags: []string{"money"},
			Summary: "Pay into the VO's account", Description: "409: the key was used for another amount." + onRecord,
			MaxBodyBytes: body, Errors: []int{401, 403, 409, 422, 503},
		}, m.deposit),
		to(huma.Operation{
			OperationID: "tenancy", Method: http.MethodGet, Path: "/v1/tenancy", Tags: []string{"money"},
			Summary: "Show shares, limits and priorities of users and tenants", Errors: []int{401, 403, 503},
		}, m.tenancy),
		to(huma.Operation{
			OperationID: "grant", Method: http.MethodPost, Path: "/v1/tenancy", Tags: []string{"operating"},
			Summary: "Set the terms of a user or a tenant", Description: "Each granted term overrides the broker's file until it is dropped." + onRecord,
			MaxBodyBytes: body, Errors: []int{401, 403, 409, 422, 503},
		}, m.grant),
		to(huma.Operation{
			OperationID: "statement", Method: http.MethodGet, Path: "/v1/accounts/statement", Tags: []string{"money"},
			Summary: "List every movement of the VO's money",
			Description: "From the broker's journal; it takes as long as reading that. Users see the lines of their own jobs, operators all. " +
				"Only a few requests are answered at once: 429 and 503 say when to try again.",
			Errors: []int{401, 403, 422, 429, 501, 503},
		}, m.statement),
	}
}

// groupRoutes are the operations about the processes that hold the broker.
func groupRoutes(body int64, g *group) []route {
	return []route{
		to(huma.Operation{
			OperationID: "replicas", Method: http.MethodGet, Path: "/v1/replicas", Tags: []string{"operating"},
			Summary: "List the processes that hold the broker", Description: "As the leader knows them; with here=true, as the asked process knows them, whether it leads or not. Only for operators. 501: a single process holds the broker.", Errors: []int{401, 403, 501, 503},
		}, g.replicas),
		to(huma.Operation{
			OperationID: "replace-replica", Method: http.MethodPost, Path: "/v1/replicas", Tags: []string{"operating"},
			Summary: "Replace a process that is gone for good by a new one",
			Description: "One at a time. The new process need not run yet: it is sent the whole state once it does. " +
				"409: another member is being replaced. 422: the old one is not a member, or the new one already is." + onRecord,
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
		to(show("site", "/v1/site", "Show the state of the site", ""), s.state),
		to(show("site-offers", "/v1/offers", "Show what is free over the next seven days", ""), s.offers),
		to(show("site-reservations", "/v1/reservations", "List the legs that hold nodes",
			"Of all brokers, in the order of their holds. Only for operators."), s.reservations),
		to(operate("drain", http.MethodPost, "/v1/drain", "Accept nothing new",
			"The site refuses requests for offers and new legs until then. Legs that are held, committed or running go on, and so do local jobs. A later drain replaces an earlier one."), s.drain),
		to(operate("resume", http.MethodDelete, "/v1/drain", "End a drain", "New legs are accepted again."), s.resume),
		to(operate("maintenance", http.MethodPost, "/v1/maintenance", "Take nodes out of service for some time",
			"Nothing is offered or started on them. If running jobs or reservations are in the way, it is refused, unless forced."), s.maintain),
		to(operate("cancel-maintenance", http.MethodDelete, "/v1/maintenance/{name}", "Return the nodes of a maintenance to service",
			"Before or during its window."), s.cancelMaintenance),
		to(operate("close", http.MethodPost, "/v1/close", "Accept nothing new from a VO or a user",
			"From a VO, from a user of any VO, or from that user of that VO. Legs that they already hold go on."), s.close),
		to(huma.Operation{
			OperationID: "reload", Method: http.MethodPost, Path: "/v1/reload", Tags: []string{"operating"},
			Summary: "Read the site's file again",
			Description: "Changes without a restart prices, groups and nodes, limits, terms of sale, the local workload of simulated nodes, which VOs the site serves, their shares and accounts, and revoked certificates. " +
				"What is promised stays as it was promised. The answer says what changed, and what needs a restart. Only for operators. " +
				"409: the file cannot be used, another reload is under way, or legs would lose their nodes and force is not set; nothing was changed.",
			MaxBodyBytes: body, Errors: []int{403, 409, 501, 503},
		}, s.reload),
		to(operate("open", http.MethodPost, "/v1/open", "End a close", "For the same VO and user."), s.open),
	}
}
