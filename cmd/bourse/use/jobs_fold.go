package use

import (
	"slices"

	"github.com/bourse-grid/bourse/web/api"
)

// Lists of jobs are in the order of submission, and a large batch is one row.

// mostUnfolded is how many jobs of a batch have a row each in a list that may fold.
const mostUnfolded = 10

// jobRow is a job, or all jobs of a batch in the list.
type jobRow struct {
	api.Job
	folded []api.Job // nil: it is one job
}

// inOrder is a list, newest first, in the order of submission.
func inOrder(list []api.Job) []api.Job {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// folded makes one row of the jobs of each batch that has more than a few, in place of its
// first. Jobs of different users under one identity are different batches.
func folded(list []api.Job) []jobRow {
	type batch struct{ id, user string }
	of := map[batch][]api.Job{}
	for i := range list {
		if j := &list[i]; j.Batch != "" {
			of[batch{j.Batch, j.User}] = append(of[batch{j.Batch, j.User}], *j)
		}
	}
	var rows []jobRow
	for i := range list {
		j := &list[i]
		all := of[batch{j.Batch, j.User}]
		switch {
		case len(all) <= mostUnfolded:
			rows = append(rows, jobRow{Job: *j})
		case all[0].ID == j.ID:
			rows = append(rows, foldedRow(all))
		}
	}
	return rows
}

// eachJob is a row for each job.
func eachJob(list []api.Job) []jobRow {
	rows := make([]jobRow, len(list))
	for i := range list {
		rows[i] = jobRow{Job: list[i]}
	}
	return rows
}

// foldedRow sums up the jobs of a batch: nodes and cost are sums, start and end those of the
// first and the last window.
func foldedRow(all []api.Job) jobRow {
	r := jobRow{Job: api.Job{ID: all[0].Batch, User: all[0].User, Batch: all[0].Batch}, folded: all}
	for i := range all {
		j := &all[i]
		r.Nodes += j.Nodes
		if j.Start != 0 && (r.Start == 0 || j.Start < r.Start) {
			r.Start = j.Start
		}
		r.End = max(r.End, j.End)
		if j.Cost != nil {
			if r.Cost == nil {
				r.Cost = &api.Credits{}
			}
			r.Cost = &api.Credits{Credits: r.Cost.Plus(j.Cost.Credits)}
		}
		for _, s := range j.Sites {
			if !slices.Contains(r.Sites, s) {
				r.Sites = append(r.Sites, s)
			}
		}
	}
	return r
}
