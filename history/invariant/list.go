package invariant

// Rule is an invariant in a sentence. The numbers up to I16 are those of the
// co-allocation protocol; findings, violations and documents name a rule by its
// number.
type Rule struct{ Number, Says string }

// rules are all of them. Those that no file of this package checks are seen from
// outside only, by simulation/torture: messages and crashes leave no fact.
var rules = []Rule{
	{"I1", "no node is promised twice at any instant"},
	{"I2", "at rest all legs of a decided transaction carry the decision"},
	{"I3", "a decision is made once, and never changes"},
	{"I4", "no hold outlives its limit, no prepared leg its in-doubt limit"},
	{"I5", "legs move only along the state table"},
	{"I6", "a message that comes again has no second effect"},
	{"I7", "a fenced life does nothing but finish what it had decided"},
	{"I8", "accounts balance, nobody spends beyond a budget, money is posted once and given back at most once"},
	{"I9", "a committed window obeys its request, and no leg runs before its window begins"},
	{"I10", "the price charged is the one that Held named, never above the limit"},
	{"I11", "what was acknowledged survives the end of a process"},
	{"I12", "gossip breaks none of these"},
	{"I13", "once all faults have ended, every decision is acknowledged"},
	{"I14", "the same messages leave the same journal"},
	{"I15", "nothing is committed of which a leg has gone, and of several legs nothing before each was prepared"},
	{"I16", "a site restores what it had, and has lost, and nothing else"},
	{"I17", "a promise is kept: a leg lies within the window that was agreed, and running work never moves"},
	{"I18", "nobody runs before all that it comes after has ended, gap included"},
	{"I19", "nothing of ours stays in a resource manager ten minutes after its leg has ended"},
	{"I20", "no work runs that no confirmed leg covers, and what is said of it is what came of it"},
	{"I21", "no job and no reservation of another is touched in a resource manager"},
	{"I22", "no leg's work is begun twice"},
	{"I23", "what differs between a leg and its resource manager is mended, or the leg is lost, within minutes"},
	{"I24", "no leg is refused or lost to a resource manager that has all it needs there"},
	{"I25", "no leg is placed on a node that is not known to be up"},
	{"I26", "of a broker that several processes hold nothing leaves before it is committed, all apply the same, and one leads at a time"},
	{"I27", "a move is both or neither: what a job has is given back only for what is confirmed in its place, and then all of it"},
	{"I28", "at rest a broker has each leg where its site has it"},
	{"I29", "what a broken window costs, a part that is lost with its replacement, or a window whose move is lost comes back in full, what its user gives up by the schedules"},
	{"I30", "what users are told is so"},
	{"I31", "no user and no tenant has more than the VO's operator allows"},
	{"I32", "a site holds no more for VOs than its operator allows"},
	{"I33", "an element of an array begins once, and no more of them are in play at once than its throttle allows"},
}

// Rules returns all invariants, in order.
func Rules() []Rule { return append([]Rule(nil), rules...) }
