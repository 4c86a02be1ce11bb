package broker

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// record records a fact and applies it. The lasting state changes in no other way.
func (mem *memory) record(f agents.Fact, out *agents.Outbox) {
	out.Record(f)
	mem.apply(f)
}

// Replay applies a fact of an earlier life.
func (mem *memory) Replay(at grid.Time, f agents.Fact) {
	mem.now = at
	mem.apply(f)
	mem.fallen = nil // the earlier life has recorded it
}

// apply applies a fact to the lasting state. It sends nothing and depends on nothing
// but the state, so that facts can be replayed.
func (mem *memory) apply(f agents.Fact) { mem.counted(f, func() { mem.applyFact(f) }) }

// applyFact has each part of the memory apply a fact.
func (mem *memory) applyFact(f agents.Fact) {
	switch f := f.(type) {
	case facts.JobSubmitted:
		mem.applySubmitted(f)
	case facts.JobPostponed:
		mem.applyPostponed(f)
	case facts.JobBroken:
		mem.applyBroken(f)
	case facts.JobCancelled:
		mem.applyCancelled(f)
	case facts.JobsForgotten:
		mem.applyJobsForgotten(f)
	case facts.CycleClosed:
		mem.cycles = f.Cycle
		mem.queue.served(f.Served)
		mem.queue.passed(f.Tenants)
		mem.accounts.Closed(f)
		mem.queue.sweep()
	case facts.ShiftOffered:
		mem.applyOffered(f)
	case facts.OfferClosed:
		mem.applyOfferClosed(f)
	case facts.BrokerImage:
		mem.load(f)
	case facts.SubmissionRefused, facts.Amnesia, facts.CycleSeen, facts.CyclePlanned: // no state changes
	default:
		mem.applyRare(f)
	}
}

// applyRare applies the facts that are of no single job: lives, trust, money and terms.
func (mem *memory) applyRare(f agents.Fact) {
	switch f := f.(type) {
	case facts.LifeBegun:
		mem.lives.ApplyBegun(f)
	case facts.LifeFenced:
		mem.lives.ApplyFenced(f)
	case facts.TxForgotten:
		mem.tx.Apply(mem.now, f)
		mem.tenancy.Prune(mem.now)
	case facts.LegsDisowned:
		if mem.trust.ApplyDisowned(mem.now, f) {
			mem.peers.Ensure(mem.now, transaction.SiteID(f.Site))
		}
	case facts.WordBroken:
		mem.peers.Ensure(mem.now, transaction.SiteID(f.Site))
		mem.trust.ApplyBroken(mem.now, f)
	case facts.UserBarred:
		mem.trust.ApplyBarred(f)
	case facts.BudgetOpened:
		mem.accounts.ApplyOpened(mem.now, f)
	case facts.Deposited:
		mem.accounts.Deposit(f)
	case facts.TermsRead:
		mem.tenancy.ApplyRead(f)
		mem.termsChanged()
	case facts.TermsGranted:
		mem.tenancy.ApplyGranted(f)
		mem.termsChanged()
	default:
		if !mem.applyTx(f) {
			panic(fmt.Sprintf("broker: %s cannot apply %s", mem.cfg.Name, f.Kind()))
		}
	}
}

func (mem *memory) applySubmitted(f facts.JobSubmitted) {
	j := mem.names[f.Job.Name]
	if j == nil {
		j = newJob(grid.Job{})
		mem.jobs = append(mem.jobs, j)
		mem.names[f.Job.Name] = j
	}
	mem.works += workSize(f.Job.Work, f.Job.Parts) - workSize(j.Work, j.Parts)
	if was := j.User; j.stub && was != f.Job.User { // the site had listed another user
		mem.txs.Count(j.Itself(), &mem.tenancy, -1)
		defer mem.txs.Count(j.Itself(), &mem.tenancy, 1)
	}
	mem.texts.take(j, f.Job)
	if j.stub = false; j.asked != nil {
		j.own().asked = nil
	}
	mem.link(j)
	if j.state == grid.JobAbandoned || j.Last() == nil { // otherwise a leg of the former stub may still run
		j.state = grid.JobAbandoned
		mem.become(j, grid.JobWaiting)
	}
}

func (mem *memory) applyPostponed(f facts.JobPostponed) {
	j := mem.names[f.Job]
	j.because(f.Reason)
	mem.queue.look(j)
	if f.Final {
		mem.become(j, grid.JobAbandoned)
	}
}

func (mem *memory) applyBroken(f facts.JobBroken) {
	j := mem.names[f.Job]
	j.because(f.Reason)
	if f.Wish {
		j.GiveUp(grid.GivenUpByUser)
	} else {
		j.GiveUp(grid.GivenUpAsBroken)
	}
	mem.touch(j)
	mem.settle(j)
}

func (mem *memory) applyCancelled(f facts.JobCancelled) {
	j := mem.names[f.Job]
	if j.because(f.Reason); !f.Reason.Refused() {
		j.because(reason(grid.Withdrawn, "its user cancelled it"))
	}
	j.GiveUp(grid.GivenUpByUser)
	mem.become(j, grid.JobWithdrawn)
}
