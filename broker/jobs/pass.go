package jobs

import (
	"cmp"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Tenants share the places of batches by stride scheduling (Waldspurger and Weihl, Stride
// scheduling, 1995). Each tenant has a pass. For each job taken it grows by what the job asks
// for (nodes x length) divided by the tenant's share, and the tenant with the lowest pass is
// served next. So while all tenants have due jobs, they are served in proportion to their
// shares, whatever the sizes of their jobs, to within one job each. A tenant that had nothing
// due resumes at the lowest pass of the others, or at its own if that is higher: unused turns
// are not saved up. Users without a tenant together form one, with share 1.

// passes are the tenants' passes while a batch is taken; nil if there are no tenants.
type passes map[string]int64

// strideUnit is how much a pass grows for a node-second at share 1. It is no smaller than
// MaxShare, so that no share loses much by rounding.
const strideUnit = 1000

// maxStride bounds what one job adds to a pass.
const maxStride = 1 << 50

// stride is what a job adds to its tenant's pass.
func (q *Queue) stride(j *Job, t *tenancy.Tenant) int64 {
	seconds := min(int64(j.Nodes)*max(1, int64(j.Length/grid.Second)), maxStride/strideUnit)
	return max(1, seconds*strideUnit/int64(t.Share))
}

// running are the passes when a batch begins. No tenant with due jobs is behind the lowest of
// those that have a pass already; of the tenants without due jobs, those ahead of it are kept.
func (q *Queue) running(list []*service) passes {
	if len(q.pass) == 0 && !slices.ContainsFunc(list, func(t *service) bool { return t.tenant.Name != "" }) {
		return nil
	}
	least := int64(math.MaxInt64)
	for _, t := range list {
		if at, known := q.pass[t.tenant.Name]; known {
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
		p[t.tenant.Name] = max(q.pass[t.tenant.Name], least)
	}
	return p
}

// lines are the passes as recorded: relative to the lowest, so that the numbers stay small.
func (p passes) lines() []facts.TenantLine {
	var list []facts.TenantLine
	for name, at := range p {
		list = append(list, facts.TenantLine{Tenant: name, Pass: at})
	}
	if len(list) == 0 {
		return nil
	}
	least := slices.MinFunc(list, func(a, b facts.TenantLine) int { return cmp.Compare(a.Pass, b.Pass) }).Pass
	for i := range list {
		list[i].Pass -= least
	}
	slices.SortFunc(list, func(a, b facts.TenantLine) int { return cmp.Compare(a.Tenant, b.Tenant) })
	return list
}

// passed sets the tenants' passes to those of a batch.
func (q *Queue) passed(list []facts.TenantLine) {
	if list == nil {
		return
	}
	q.pass = passes{}
	for _, x := range list {
		q.pass[x.Tenant] = x.Pass
	}
}

// passes are the passes on record, in order of name.
func (q *Queue) passes() []facts.TenantLine { return q.pass.lines() }
