// Package facts is what agents record: one type for each kind of fact. A restart
// replays them, reports are drawn from them, and the invariants are checked on them.
//
// A fact holds values of package grid and nothing that is worked out from them. Its
// JSON is the journal's format, so a field keeps its name and its meaning for ever.
package facts

// Facts lists a zero fact of every kind that can be read back from a journal. A new fact
// needs a line here.
func Facts() []Fact {
	return []Fact{
		JobStarted{}, JobEnded{}, JobRefused{}, NodesLocked{}, NodesFreed{},
		WorkBegun{}, JobQueued{}, JobExtended{}, LockMoved{}, TasksPlaced{}, ClusterImage{},
		SiteDrained{}, SiteClosed{}, SiteOpened{}, MaintenanceSet{}, MaintenanceOver{},
		LegMoved{}, LegRestored{}, SiteBegun{}, LegShifted{}, ShiftNoted{}, ShiftOffered{}, OfferClosed{}, NodesMoved{}, JobPromised{}, LifeSeen{}, LifeListed{}, Tombstone{}, NoticeNoted{}, LegsForgotten{}, SiteImage{}, NodesDown{},
		JobSubmitted{}, SubmissionRefused{}, CycleClosed{}, JobPostponed{},
		TxBegun{}, LegPriced{}, LegProved{}, TxDecided{}, LegClosed{}, LegDone{},
		LifeBegun{}, LifeFenced{}, TxReversed{}, LegAdopted{}, LegsDisowned{}, WordBroken{}, Amnesia{}, JobBroken{}, JobCancelled{},
		SiteJoined{}, SiteLeft{}, SiteLost{}, SiteBack{}, ClaimSettled{}, TxForgotten{}, BudgetOpened{}, Deposited{}, TermsRead{}, TermsGranted{}, BrokerImage{},
		CycleSeen{}, CyclePlanned{}, LegStarted{}, JobsForgotten{}, UserBarred{},
	}
}
