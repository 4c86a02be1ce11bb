package accounts

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

const sec = grid.Time(grid.Second)

// lasting is a budget of 1000 credits for 100 s, of which some were used.
func lasting(used grid.Credits) *Accounts {
	a := New("vo1", 1000*grid.Credit, nil)
	a.ApplyOpened(0, facts.BudgetOpened{Credits: 1000 * grid.Credit, Until: 100 * sec})
	a.Reserve(grid.LegID{}, "ana", "north", used*grid.Credit)
	return &a
}

func TestPacing_ACreditWeighsMoreWhileSpendingIsAheadAndLetsGo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		used   grid.Credits
		at     grid.Time
		before grid.Credits
		want   string
	}{
		{900, 1 * sec, 0, "0"},            // too early to say
		{0, 50 * sec, 0, "0"},             // nothing is spent
		{500, 50 * sec, 0, "0"},           // to plan
		{600, 50 * sec, 0, "0"},           // a fifth ahead, at half the time that is within the doubt
		{700, 50 * sec, 0, "3.538"},       // not any more
		{1000, 50 * sec, 0, "4"},          // the most
		{960, 95 * sec, 0, "0"},           // late, less is within the doubt
		{1000, 96 * sec, 0, "1.504"},      // and 4 % ahead is not
		{500, 50 * sec, grid.Credit, "1"}, // near it, after it was short
		{400, 50 * sec, grid.Credit, "0"}, // well behind it lets go
		{1000, 200 * sec, 0, "0"},         // after its time
		{1000, 200 * sec, grid.Credit, "1"},
	} {
		a := lasting(c.used)
		if got := a.Pace(c.at).weigh(c.at, c.before); got.String() != c.want {
			t.Errorf("%v of 1000 used at %v of 100, before %v: a credit weighs %v, want %v", c.used, c.at, c.before, got, c.want)
		}
	}
}

func TestPacing_DepositsAndRefundsLetGo(t *testing.T) {
	t.Parallel()
	a := lasting(700)
	a.Deposit(facts.Deposited{Key: "d", Credits: 1000 * grid.Credit})
	if got := a.Pace(50*sec).weigh(50*sec, 2*grid.Credit); got != 0 {
		t.Errorf("with twice the money a credit weighs %v", got)
	}
	a = lasting(700)
	a.Post(grid.LegID{})
	a.Refund("ana", "north", 400*grid.Credit)
	if p := a.Pace(50 * sec); p.Used != 300*grid.Credit || p.weigh(50*sec, 2*grid.Credit) != 0 {
		t.Errorf("after a refund %v are used", p.Used)
	}
}

// Whenever the money was spent, the weight is within its bounds, and it does not fall when
// more was spent.
func TestPacing_TheWeightIsBoundedAndRisesWithWhatIsSpent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		had := grid.Credits(rapid.Int64Range(1, int64(grid.MaxBudget)).Draw(t, "had"))
		all := grid.Duration(rapid.Int64Range(1, int64(grid.MaxDuration)).Draw(t, "all"))
		now := grid.Time(rapid.Int64Range(0, 2*int64(all)).Draw(t, "now"))
		before := grid.Credits(rapid.SampledFrom([]int64{0, 1_000_000, 2_000_000}).Draw(t, "before"))
		weigh := func(used grid.Credits) grid.Credits {
			a := New("vo1", had, nil)
			a.ApplyOpened(0, facts.BudgetOpened{Credits: had, Until: grid.Time(all)})
			a.Reserve(grid.LegID{}, "", "north", used)
			return a.Pace(now).weigh(now, before)
		}
		less := grid.Credits(rapid.Int64Range(0, int64(had)).Draw(t, "less"))
		more := grid.Credits(rapid.Int64Range(int64(less), int64(had)).Draw(t, "more"))
		u, v := weigh(less), weigh(more)
		if u > v || v > 4*grid.Credit || u != 0 && u < grid.Credit {
			t.Fatalf("a credit weighs %v with %v used, %v with %v", u, less, v, more)
		}
	})
}

func TestPacing_SaysWhatACreditWeighsAndWhy(t *testing.T) {
	t.Parallel()
	a := lasting(700)
	p := a.Pace(50 * sec)
	p.Weight = p.weigh(50*sec, 0)
	if got := string(p.Words()); got != "spending foreseen 1400 of 1000 credits by 100: a credit weighs 3.538" {
		t.Error(got)
	}
	if got := string(a.Pace(0).Words()); !strings.Contains(got, "700 of 1000 credits used: a credit weighs 1") {
		t.Error(got)
	}
}

// Where the jobs of a batch leave each other nothing as good as alone, who waits for
// that has long to wait.
func TestPacing_TheWaitIsLongWhereBatchesAreCrowded(t *testing.T) {
	t.Parallel()
	const cycle, most = 30 * grid.Minute, 4 * grid.Hour
	for _, c := range []struct {
		closed facts.CycleClosed
		want   grid.Duration
	}{
		{facts.CycleClosed{Batch: 10}, cycle},
		{facts.CycleClosed{Batch: 10, Behind: 5}, 2 * cycle},
		{facts.CycleClosed{Batch: 10, Postponed: 5}, 2 * cycle},
		{facts.CycleClosed{Batch: 10, Postponed: 5, Deferred: 5}, cycle},
		{facts.CycleClosed{Batch: 10, Postponed: 5, Deferred: 3, Behind: 3}, 2 * cycle},
		{facts.CycleClosed{Batch: 10, Postponed: 4, Behind: 8}, most},
	} {
		var p pacing
		for range 3 {
			p.closed(c.closed)
		}
		if got := p.wait(cycle, most) / grid.Second * grid.Second; got != c.want {
			t.Errorf("%+v: wait %v, want %v", c.closed, got, c.want)
		}
	}
}
