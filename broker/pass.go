package broker

import (
	"cmp"
	"math"
	"slices"

	"github.com/bourse-grid/bourse"
)

// Tenants share the places of batches by strides (Waldspurger and Weihl, Stride
// scheduling, 1995): each has a pass, which grows by what a job taken asks for (nodes x
// length) over the tenant's share, and the least pass is served next. So while all have jobs
// that are due, what is taken of them is as their shares are, whatever the sizes of the jobs, but for
// one job each. Who had nothing due comes back at the least pass of the others, or its own if that
// is more: what was not asked for is not saved up. Users who are in no tenant are together one, with the share 1.

// passes are those of the tenants of a batch as it is taken; nil where there are none.
type passes map[string]int64

// strideUnit is how much a pass grows for a node-second of a tenant with share 1; MaxShare's
// multiple, so that no share loses much by rounding.
const strideUnit = 1000

// maxStride bounds what one job adds.
const maxStride = 1 << 50

// stride is how much a job adds to the pass of its tenant.
func (q *queue) stride(j *job, t *tenantTerms) int64 {
	seconds := min(int64(j.Nodes)*max(1, int64(j.Length/bourse.Second)), maxStride/strideUnit)
	return max(1, seconds*strideUnit/int64(t.share))
}

// running are the passes as a batch begins: of those who have jobs due none is behind the
// least who had some before, and of the others those that are ahead of it are kept.
func (q *queue) running(list []*service) passes {
	if len(q.pass) == 0 && !slices.ContainsFunc(list, func(t *service) bool { return t.tenant.name != "" }) {
		return nil
	}
	least := int64(math.MaxInt64)
	for _, t := range list {
		if at, known := q.pass[t.tenant.name]; known {
			least = min(least, at)
		}
	}
	if least == math.MaxInt64 {
		least = 0
	}
	p := passes{}
	for name, at := range q.pass {
		if at > least {
			p[name] = at
		}
	}
	for _, t := range list {
		p[t.tenant.name] = max(q.pass[t.tenant.name], least)
	}
	return p
}

// lines is what of it goes on record: from the least on, so that the numbers stay small.
func (p passes) lines() []bourse.TenantLine {
	var list []bourse.TenantLine
	for name, at := range p {
		list = append(list, bourse.TenantLine{Tenant: name, Pass: at})
	}
	if len(list) == 0 {
		return nil
	}
	least := slices.MinFunc(list, func(a, b bourse.TenantLine) int { return cmp.Compare(a.Pass, b.Pass) }).Pass
	for i := range list {
		list[i].Pass -= least
	}
	slices.SortFunc(list, func(a, b bourse.TenantLine) int { return cmp.Compare(a.Tenant, b.Tenant) })
	return list
}

// passed has the tenants be as far as a batch says.
func (q *queue) passed(list []bourse.TenantLine) {
	if list == nil {
		return
	}
	q.pass = passes{}
	for _, x := range list {
		q.pass[x.Tenant] = x.Pass
	}
}

// passes are those on record, in order of name.
func (q *queue) passes() []bourse.TenantLine { return q.pass.lines() }
