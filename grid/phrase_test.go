package grid

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func byClock(t Time) string { return "<" + t.String() + ">" }

// An instant in a reason is shown by the view's clock. Nothing else is, whatever its
// figures look like.
func TestPhrase_OnlyInstantsAreShownByAClock(t *testing.T) {
	t.Parallel()
	now := Time(1_795_228_115_331)
	for _, c := range []struct {
		is   Reason
		want string
	}{
		{Because(Expired, "the deadline %v passed", now), "the deadline <1795228115.331> passed"},
		{Because(Conflict, "job %q waits since %v", "run-1795228115", now), `job "run-1795228115" waits since <1795228115.331>`},
		{Because(Conflict, "job %q waits", "1795228115"), `job "1795228115" waits`},
		{Because(Conflict, "job %s waits", "run@1795228115.5"), `job run@1795228115.5 waits`},
		{Because(Conflict, "job %s of %v", "@@1795228115", now), "job @@1795228115 of <1795228115.331>"},
		{Because(NoMoney, "%v credits, %d nodes", 1_795_228_115*Credit, 1_795_228_115), "1795228115 credits, 1795228115 nodes"},
		{Because(NoMoney, "%v node-seconds", 1_795_228_115*Second), "1795228115 node-seconds"},
		{Because(Busy, "%s: %v", "north", Because(Busy, "until %v.", now)), "north: until <1795228115.331>."},
		{Because(Busy, "%s; %v", Say("asked at %v", now), LegID{Tx: TxID{Broker: "vo@1795228115"}}), "asked at <1795228115.331>; vo@1795228115/0/0.0"},
		{Because(Draining, "until %v", Never), "until never"},
		{Because(Expired, "deadline %v", Time(3_600_500)), "deadline 3600.5"}, // a simulation has no calendar
	} {
		if got := Phrase(c.is.Detail).In(byClock); got != c.want {
			t.Errorf("%q is shown as %q, want %q", c.is.Detail, got, c.want)
		}
	}
	if got := Because(Expired, "deadline %v", Time(3_600_500)); got.Detail != "deadline 3600.5" {
		t.Errorf("a simulation's reason is %q", got.Detail)
	}
}

// Names put into a phrase come out of it unchanged.
func TestPhrase_NamesComeOutAsTheyWere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[@.a]{0,3}(@{0,3}[0-9]{8,12}\.?[0-9]{0,4}){0,2}[@.]{0,2}`).Draw(t, "name")
		at := Time(rapid.Int64Range(int64(Calendar), int64(MaxTime)-1).Draw(t, "at"))
		if got, want := Say("%s, at %v", name, at).In(byClock), name+", at "+byClock(at); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
		if old := strings.ReplaceAll(name, "@", ""); Phrase(old).In(byClock) != old {
			t.Fatalf("%q of an older journal is shown otherwise", old)
		}
	})
}
