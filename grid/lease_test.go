package grid

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The protocol's table, written as it reads: every move of a leg that is not
// here is forbidden.
var protocol = map[string][]string{
	"asked":     {"held", "refused", "expired", "cancelled"},
	"held":      {"prepared", "confirmed", "expired", "cancelled", "lost"}, // confirmed: a window of one leg needs no Prepare
	"prepared":  {"confirmed", "cancelled", "heuristic", "lost"},
	"confirmed": {"running", "released", "lost"},
	"running":   {"settled", "released", "lost"},
}

func TestLegState_MovesAsTheProtocolSays(t *testing.T) {
	t.Parallel()
	for s := Asked; s <= Lost; s++ {
		for next := Asked; next <= Lost; next++ {
			want := slices.Contains(protocol[s.String()], next.String())
			if got := s.CanMove(next); got != want {
				t.Errorf("%v to %v: %t, want %t", s, next, got, want)
			}
		}
		if s.CanMove(Lost + 1) {
			t.Errorf("%v may move to a state that there is not", s)
		}
		if _, goesOn := protocol[s.String()]; s.Terminal() == goesOn {
			t.Errorf("%v: terminal is %t, moves %v", s, s.Terminal(), protocol[s.String()])
		}
	}
	if (Lost + 1).CanMove(Held) {
		t.Error("a state that there is not may move")
	}
}

// The rows of a site's table in the document are exactly the moves of the code.
func TestLegState_MovesAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	written := writtenMoves(t, "| S", legStates[:], strings.NewReplacer())
	for s := Asked; s <= Lost; s++ {
		for next := Asked; next <= Lost; next++ {
			if want := slices.Contains(written[s.String()], next.String()); s.CanMove(next) != want {
				t.Errorf("%v to %v: the code says %t, the document %t", s, next, s.CanMove(next), want)
			}
		}
	}
}

// writtenMoves reads from the protocol's document to which states each row of one
// agent moves from which; expand has the states that a word of it stands for.
func writtenMoves(t *testing.T, rows string, states []string, expand *strings.Replacer) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../docs/TRANSACTION.md")
	if err != nil {
		t.Fatal(err)
	}
	written := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if !strings.HasPrefix(line, rows) || len(cells) < 8 {
			continue
		}
		next := strings.Fields(cells[5] + " -")[0] // a state, or words such as "same" and "none"
		for from := range strings.SplitSeq(expand.Replace(cells[2]), ",") {
			if from = strings.TrimSpace(from); from != next && slices.Contains(states, from) && slices.Contains(states, next) {
				written[from] = append(written[from], next)
			}
		}
	}
	return written
}

func TestLegState_BlocksNodesFromHeldUntilItsEnd(t *testing.T) {
	t.Parallel()
	for s := Asked; s <= Lost; s++ {
		want := slices.Contains([]LegState{Held, Prepared, Confirmed, Running}, s)
		if s.Blocks() != want {
			t.Errorf("%v holds nodes: %t, want %t", s, s.Blocks(), want)
		}
	}
}

func TestLease_IsShownWithItsWholeIdentityButTheNonce(t *testing.T) {
	t.Parallel()
	l := LegID{TxID{"vo1", 2, 99, 4}, 1}
	if got := l.String(); got != "vo1/2/4.1" {
		t.Errorf("leg is shown as %q", got)
	}
	if a, b := l, (LegID{TxID{"vo1", 2, 98, 4}, 1}); a == b {
		t.Error("two lives of a broker are taken for one")
	}
	if d := (Leg{Start: 1000, End: 5000}).Duration(); d != 4*Second {
		t.Errorf("the leg lasts %v", d)
	}
	if f := (Fare{MaxCredits, 1}).Total(); f != MaxCredits {
		t.Errorf("a fare that does not fit is %v", f)
	}
}

func TestReason_ShowsItsWordsElseItsCode(t *testing.T) {
	t.Parallel()
	if (Reason{}).Refused() || !(Reason{Code: Busy}).Refused() {
		t.Error("a reason is one iff it has a code")
	}
	if got := (Reason{Code: Busy}).String(); got != "busy" {
		t.Errorf("a bare reason is shown as %q", got)
	}
	if got := (Reason{Busy, "job 7 runs until 12"}).String(); got != "job 7 runs until 12" {
		t.Errorf("a reason is shown as %q", got)
	}
}

// The full refund ends after its share of the notice, to the millisecond: multiplied before
// it is divided. With 1,999 ms of notice, half of them are 999, not 500.
func TestCancellation_FullRefundEndsToTheMillisecond(t *testing.T) {
	t.Parallel()
	fare := Fare{Base: 6_832_500}
	for _, c := range []struct {
		held, start, now Time
		full             int
		want             Credits
	}{
		{0, 1999, 999, 500, 6_832_500},
		{0, 1999, 1000, 500, 6_825_667}, // 999 of the 1,000 ms from 999 to 1,999 are left
		{0, 999, 499, 500, 6_832_500},   // a notice below a second had no full refund at all
		{0, 7_253_999, 3_626_999, 500, 6_832_500},
		{0, 7_253_999, 4_103_500, 500, 5_934_873},
		{0, Time(MaxDuration / 2), Time(MaxDuration / 4), 1000, 6_832_500}, // beyond 64 bits
	} {
		got := Cancellation{Full: c.full}.Refund(fare, c.held, c.start, c.now)
		if got != c.want {
			t.Errorf("held at %d, starts at %d, full for %d thousandths, given up at %d: %d, want %d", c.held, c.start, c.full, c.now, got, c.want)
		}
	}
}

// The fee is that of the hours held, at most the base part, whatever the share is.
func TestCancellation_FeeIsOfTheHoursHeld(t *testing.T) {
	t.Parallel()
	fare := Fare{Base: 10_000_000_000}
	for _, c := range []struct {
		held    Duration
		holding int
		want    Credits
	}{
		{514_285_714, 7, 9_999_999_994}, // of 142.857 h, one ms before the fee is all of the base
		{514_285_715, 7, 10_000_000_000},
		{MaxDuration / 2, 1000, 10_000_000_000},
	} {
		if got := (Cancellation{Holding: c.holding}).fee(fare, c.held); got != c.want {
			t.Errorf("held for %d ms at %d thousandths: %d, want %d", c.held, c.holding, got, c.want)
		}
	}
}
