package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/api"
)

// NewBatchID makes the identity of a batch, at random.
func NewBatchID() string { return "b-" + strings.ToLower(rand.Text()[:16]) }

// Submit submits a batch. The same batch again, under the same identity, changes
// nothing, so Submit repeats it if an answer is lost.
func (c *Client) Submit(ctx context.Context, b api.Batch) (a api.BatchAnswer, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/batches", b, &a)
	return a, err
}

// Quote says what jobs would get, without submitting them.
func (c *Client) Quote(ctx context.Context, w api.QuoteWish) (a api.QuoteAnswer, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/quotes", w, &a)
	return a, err
}

// Filter says which jobs to list; zero values stand for all.
type Filter struct {
	User, State, Name, Batch string
	Mine                     bool   // the caller's own
	Array                    string // the elements of this array, in order of index
	Most                     int    // 0: all
}

// Jobs lists jobs, the newest first, page by page.
func (c *Client) Jobs(ctx context.Context, f Filter) ([]api.Job, error) {
	q := url.Values{}
	for key, v := range map[string]string{"user": f.User, "state": f.State, "name": f.Name, "batch": f.Batch, "array": f.Array} {
		if v != "" {
			q.Set(key, v)
		}
	}
	if f.Mine {
		q.Set("mine", "true")
	}
	var list []api.Job
	for {
		limit := 500
		if f.Most > 0 {
			limit = min(limit, f.Most-len(list))
		}
		q.Set("limit", strconv.Itoa(limit))
		var page api.JobList
		if err := c.call(ctx, http.MethodGet, "/v1/jobs?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		list = append(list, page.Jobs...)
		if page.Next == 0 || f.Most > 0 && len(list) >= f.Most {
			return list, nil
		}
		q.Set("before", strconv.FormatUint(page.Next, 10))
	}
}

// Job shows a job, by identity or by a name that is the only one.
func (c *Client) Job(ctx context.Context, id string) (j api.Job, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/jobs/"+url.PathEscape(id), nil, &j)
	return j, err
}

// Output reads what a leg of a job has printed, or its standard error, from a byte on or,
// below 0, so many of the last ones.
func (c *Client) Output(ctx context.Context, id string, leg int, from int64, errors bool) (o api.JobOutput, err error) {
	q := url.Values{"leg": {strconv.Itoa(leg)}, "from": {strconv.FormatInt(from, 10)}}
	if errors {
		q.Set("what", "errors")
	}
	err = c.call(ctx, http.MethodGet, "/v1/jobs/"+url.PathEscape(id)+"/output?"+q.Encode(), nil, &o)
	return o, err
}

// Files lists the files of a leg's work, below a folder of it or, if path is "", all.
func (c *Client) Files(ctx context.Context, id string, leg int, path string) (l api.WorkFiles, err error) {
	q := url.Values{"leg": {strconv.Itoa(leg)}, "path": {path}}
	err = c.call(ctx, http.MethodGet, "/v1/jobs/"+url.PathEscape(id)+"/files?"+q.Encode(), nil, &l)
	return l, err
}

// File reads a piece of a file of a leg's work.
func (c *Client) File(ctx context.Context, id string, leg int, path string, from int64) (o api.JobOutput, err error) {
	q := url.Values{"leg": {strconv.Itoa(leg)}, "path": {path}, "from": {strconv.FormatInt(from, 10)}}
	err = c.call(ctx, http.MethodGet, "/v1/jobs/"+url.PathEscape(id)+"/file?"+q.Encode(), nil, &o)
	return o, err
}

// Digest asks for the SHA-256 of a file of a leg's work.
func (c *Client) Digest(ctx context.Context, id string, leg int, path string) (d api.WorkDigest, err error) {
	q := url.Values{"leg": {strconv.Itoa(leg)}, "path": {path}}
	err = c.call(ctx, http.MethodGet, "/v1/jobs/"+url.PathEscape(id)+"/digest?"+q.Encode(), nil, &d)
	return d, err
}

// Cancel gives a job up.
func (c *Client) Cancel(ctx context.Context, id string) (a api.Cancelled, err error) {
	err = c.call(ctx, http.MethodDelete, "/v1/jobs/"+url.PathEscape(id), nil, &a)
	return a, err
}

// Modify asks for another window for a placed job, and returns the job as it stands
// then.
func (c *Client) Modify(ctx context.Context, id string, m api.Modification) (j api.Job, err error) {
	err = c.call(ctx, http.MethodPatch, "/v1/jobs/"+url.PathEscape(id), m, &j)
	return j, err
}

// ShiftOffers lists what sites offer for a job's place.
func (c *Client) ShiftOffers(ctx context.Context, id string) (l api.ShiftOffers, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/jobs/"+url.PathEscape(id)+"/offers", nil, &l)
	return l, err
}

// AnswerShift accepts or rejects such an offer, and returns the job as it stands
// then.
func (c *Client) AnswerShift(ctx context.Context, id string, a api.ShiftAnswer) (j api.Job, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/jobs/"+url.PathEscape(id)+"/offers", a, &j)
	return j, err
}

// Explain says why a job stands where it stands. Its value is left as JSON.
func (c *Client) Explain(ctx context.Context, id string) (e api.Explanation, err error) {
	var raw json.RawMessage
	e.Value = &raw
	err = c.call(ctx, http.MethodGet, "/v1/jobs/"+url.PathEscape(id)+"/explanation", nil, &e)
	return e, err
}

// Sites lists the sites that a broker knows.
func (c *Client) Sites(ctx context.Context) (l api.SiteList, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/sites", nil, &l)
	return l, err
}

// SiteStake says what LoseSite would give up.
func (c *Client) SiteStake(ctx context.Context, site string) (s api.SiteStake, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/sites/"+url.PathEscape(site)+"/lost", nil, &s)
	return s, err
}

// LoseSite gives a site up that will not come back.
func (c *Client) LoseSite(ctx context.Context, site string, w api.LostWish) (l api.SiteList, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/sites/"+url.PathEscape(site)+"/lost", w, &l)
	return l, err
}

// FindSite takes that back.
func (c *Client) FindSite(ctx context.Context, site string) (l api.SiteList, err error) {
	err = c.call(ctx, http.MethodDelete, "/v1/sites/"+url.PathEscape(site)+"/lost", nil, &l)
	return l, err
}

// Offers shows what sites offered in a broker's last cycle; site "": all.
func (c *Client) Offers(ctx context.Context, site string) (l api.OfferList, err error) {
	path := "/v1/offers"
	if site != "" {
		path += "?site=" + url.QueryEscape(site)
	}
	err = c.call(ctx, http.MethodGet, path, nil, &l)
	return l, err
}

// Reservations lists up to most legs that are committed and not over; user "":
// of all whom the caller sees.
func (c *Client) Reservations(ctx context.Context, user string, most int) (list []api.Reservation, more bool, err error) {
	q := url.Values{}
	if user != "" {
		q.Set("user", user)
	}
	for {
		var page api.ReservationList
		q.Set("skip", strconv.Itoa(len(list)))
		q.Set("limit", strconv.Itoa(min(500, most-len(list))))
		if err := c.call(ctx, http.MethodGet, "/v1/reservations?"+q.Encode(), nil, &page); err != nil {
			return nil, false, err
		}
		list = append(list, page.Reservations...)
		if page.Next == 0 || len(list) >= most {
			return list, page.Next != 0, nil
		}
	}
}

// Accounts shows budget, spending and quotas.
func (c *Client) Accounts(ctx context.Context) (a api.Accounts, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/accounts", nil, &a)
	return a, err
}

// NewDepositKey makes the key of a deposit, at random.
func NewDepositKey() string { return "d-" + strings.ToLower(rand.Text()[:16]) }

// Deposit pays into the VO's account, once for each key, so that it is repeated if an
// answer is lost.
func (c *Client) Deposit(ctx context.Context, d api.Deposit) (a api.Accounts, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/accounts/deposits", d, &a)
	return a, err
}

// Tenancy shows shares, bounds and priorities of users and tenants.
func (c *Client) Tenancy(ctx context.Context) (t api.Tenancy, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/tenancy", nil, &t)
	return t, err
}

// Grant sets the terms of a user or a tenant.
func (c *Client) Grant(ctx context.Context, g api.Grant) (t api.Tenancy, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/tenancy", g, &t)
	return t, err
}

// Replicas lists the processes that hold the broker.
func (c *Client) Replicas(ctx context.Context) (r api.Replicas, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/replicas", nil, &r)
	return r, err
}

// ReplicasHere is what one process knows of them by itself, whether it leads or not. It is
// not asked again.
func (c *Client) ReplicasHere(ctx context.Context) (r api.Replicas, err error) {
	err = c.once(ctx, http.MethodGet, "/v1/replicas?here=true", nil, &r)
	return r, err
}

// ReplaceReplica has a new process take the place of one of them.
func (c *Client) ReplaceReplica(ctx context.Context, by api.Replacement) (r api.Replicas, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/replicas", by, &r)
	return r, err
}

// Statement lists what has moved the VO's money from an instant on and before another;
// the zero Instant bounds nothing. user "": of all whom the caller sees.
func (c *Client) Statement(ctx context.Context, from, to api.Instant, user string) (s api.Statement, err error) {
	q := url.Values{}
	for key, at := range map[string]api.Instant{"from": from, "to": to} {
		if at != 0 {
			q.Set(key, at.String())
		}
	}
	if user != "" {
		q.Set("user", user)
	}
	err = c.call(ctx, http.MethodGet, "/v1/accounts/statement?"+q.Encode(), nil, &s)
	return s, err
}

// Who says who the caller is to the API.
func (c *Client) Who(ctx context.Context) (w web.Who, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/caller", nil, &w)
	return w, err
}
