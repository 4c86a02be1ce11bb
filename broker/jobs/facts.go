package jobs

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Record records a fact and applies it. The lasting state changes in no other way.
func (rec *State) Record(f agents.Fact, out *agents.Outbox) {
	out.Record(f)
	rec.Apply(f)
}

// Replay applies a fact of an earlier life.
func (rec *State) Replay(at grid.Time, f agents.Fact) {
	rec.Now = at
	rec.Apply(f)
	rec.Fallen = nil // the earlier life has recorded it
}

// Apply applies a fact to the lasting state. It sends nothing and depends on nothing
// but the state, so that facts can be replayed.
func (rec *State) Apply(f agents.Fact) { rec.counted(f, func() { rec.applyFact(f) }) }

// applyFact has each part of the memory apply a fact.
func (rec *State) applyFact(f agents.Fact) {
	switch f := f.(type) {
	case facts.JobSubmitted:
		rec.applySubmitted(f)
	case facts.JobPostponed:
		rec.applyPostponed(f)
	case facts.JobBroken:
		rec.applyBroken(f)
	case facts.Gathered:
		applyGathered(rec, f)
	case facts.JobCancelled:
		rec.applyCancelled(f)
	case facts.JobsForgotten:
		rec.applyJobsForgotten(f)
	case facts.ElementsBegun:
		rec.applyBegun(f)
	case facts.ElementsDropped:
		rec.drop(rec.Names[f.Job], f.Elements, f.Reason)
	case facts.ArrayOver:
		rec.applyArrayOver(f)
	case facts.CycleClosed:
		rec.Cycles = f.Cycle
		rec.Queue.served(f.Served)
		rec.Queue.passed(f.Tenants)
		rec.Accounts.Closed(f)
		rec.Queue.sweep()
	case facts.ShiftOffered:
		rec.applyOffered(f)
	case facts.OfferClosed:
		rec.applyOfferClosed(f)
	case facts.BrokerImage:
		rec.load(f)
	case facts.SubmissionRefused, facts.Amnesia, facts.CycleSeen, facts.CyclePlanned: // no state changes
	default:
		rec.applyRare(f)
	}
}

// applyRare applies the facts that are of no single job: lives, trust, money and terms.
func (rec *State) applyRare(f agents.Fact) {
	switch f := f.(type) {
	case facts.LifeBegun:
		rec.Lives.ApplyBegun(f)
	case facts.LifeFenced:
		rec.Lives.ApplyFenced(f)
	case facts.TxForgotten:
		forgetWindows(rec, f.Txs)
		rec.Tx.Apply(rec.Now, f)
		rec.Tenancy.Prune(rec.Now)
	case facts.LegsDisowned:
		if rec.Trust.ApplyDisowned(rec.Now, f) {
			rec.Peers.Ensure(rec.Now, transaction.SiteID(f.Site))
		}
	case facts.WordBroken:
		rec.Peers.Ensure(rec.Now, transaction.SiteID(f.Site))
		rec.Trust.ApplyBroken(rec.Now, f)
	case facts.UserBarred:
		rec.Trust.ApplyBarred(f)
	case facts.BudgetOpened:
		rec.Accounts.ApplyOpened(rec.Now, f)
	case facts.Deposited:
		rec.Accounts.Deposit(f)
	case facts.TermsRead:
		rec.Tenancy.ApplyRead(f)
		rec.termsChanged()
	case facts.TermsGranted:
		rec.Tenancy.ApplyGranted(f)
		rec.termsChanged()
	default:
		if !rec.applyTx(f) {
			panic(fmt.Sprintf("broker: %s cannot apply %s", rec.cfg.Name, f.Kind()))
		}
	}
}

func (rec *State) applySubmitted(f facts.JobSubmitted) {
	j := rec.Names[f.Job.Name]
	if j == nil {
		j = NewJob(grid.Job{})
		rec.Jobs = append(rec.Jobs, j)
		rec.Names[f.Job.Name] = j
	}
	rec.Works -= j.takes()
	if was := j.User; j.Stub && was != f.Job.User { // the site had listed another user
		rec.Txs.Count(j.Itself(), &rec.Tenancy, -1)
		defer rec.Txs.Count(j.Itself(), &rec.Tenancy, 1)
	}
	rec.texts.take(j, f.Job)
	rec.Works += j.takes()
	rec.applyArray(j, f.Job.Array)
	if a := j.From.Array; a != nil {
		a.Array.Elements = append(a.Array.Elements, j)
	}
	if j.Stub = false; j.asked != nil {
		j.own().asked = nil
	}
	rec.link(j)
	if j.State == grid.JobAbandoned || j.Last() == nil { // otherwise a leg of the former stub may still run
		j.State = grid.JobAbandoned
		rec.become(j, grid.JobWaiting)
	}
}

func (rec *State) applyPostponed(f facts.JobPostponed) {
	j := rec.Names[f.Job]
	j.because(f.Reason)
	rec.Queue.look(j)
	if f.Final {
		rec.become(j, grid.JobAbandoned)
	}
}

func (rec *State) applyBroken(f facts.JobBroken) {
	j := rec.Names[f.Job]
	j.because(f.Reason)
	if f.Wish {
		j.GiveUp(grid.GivenUpByUser)
	} else {
		j.GiveUp(grid.GivenUpAsBroken)
	}
	rec.Touch(j)
	rec.settle(j)
}

func (rec *State) applyCancelled(f facts.JobCancelled) {
	j := rec.Names[f.Job]
	if j.because(f.Reason); !f.Reason.Refused() {
		j.because(grid.Because(grid.Withdrawn, "its user cancelled it"))
	}
	j.GiveUp(grid.GivenUpByUser)
	rec.become(j, grid.JobWithdrawn)
	if j.Array != nil {
		rec.drop(j, j.Array.Waiting, f.Reason)
		rec.closeArray(j)
	}
}
