package grid

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseDuration_ReadsEveryUnitToTheMillisecond(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want Duration
	}{
		{"90", 90 * Second}, {"90s", 90 * Second}, {"30m", 30 * Minute}, {"2h", 2 * Hour}, {"1d", Day}, {" 2h ", 2 * Hour},
		{"0", 0}, {"0.001", 1}, {"0.0004", 0}, {"1.5h", 90 * Minute}, {"1e3s", 1000 * Second}, {"-0", 0},
		{"0.5001h", 1_800_360}, // rounded to the millisecond, not to a thousandth of an hour
		{"1.00005d", Day + 4320}, {"0.00001m", 1}, {"1e10", MaxDuration},
	} {
		if got, err := ParseDuration(c.text); err != nil || got != c.want {
			t.Errorf("ParseDuration(%q) = %d ms, %v; want %d ms", c.text, got, err, c.want)
		}
	}
}

func TestParseDuration_RefusesWithARemedy(t *testing.T) {
	t.Parallel()
	for text, remedy := range map[string]string{
		"": "30m", "h": "30m", "2 h": "30m", "5ms": "30m", "1h30m": "30m", "1:30": "30m", "NaN": "30m",
		"-1": "0..", "-2h": "0..", "1e10d": "0..", "10000000000.001": "0..", "1e300": "0..",
	} {
		got, err := ParseDuration(text)
		if err == nil {
			t.Errorf("ParseDuration(%q) = %v, want an error", text, got)
		} else if !strings.Contains(err.Error(), remedy) {
			t.Errorf("ParseDuration(%q): %v; want a word of %q", text, err, remedy)
		}
	}
}

func TestDuration_WordsAreReadBack(t *testing.T) {
	t.Parallel()
	for d, want := range map[Duration]string{0: "0s", 1: "0.001s", 90 * Second: "90s", 30 * Minute: "30m", 2 * Hour: "2h", 36 * Hour: "36h", Day: "1d"} {
		if got := d.Words(); got != want {
			t.Errorf("%d ms in words is %q, want %q", d, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := Duration(rapid.Int64Range(0, int64(MaxDuration)).Draw(t, "d"))
		if rapid.Bool().Draw(t, "whole") {
			d -= d % Minute
		}
		if got, err := ParseDuration(d.Words()); err != nil || got != d {
			t.Fatalf("%d ms in words is %q, read as %d, %v", d, d.Words(), got, err)
		}
	})
}

func TestTime_IsSecondsInJSON(t *testing.T) {
	t.Parallel()
	for at, want := range map[Time]string{0: "0", 1500: "1.5", -2000: "-2", MaxTime: "10000000000", Never: "null"} {
		b, err := json.Marshal(at)
		if err != nil || string(b) != want {
			t.Errorf("%d ms is %s in JSON, %v; want %s", at, b, err, want)
		}
		var back Time
		if err := json.Unmarshal(b, &back); err != nil || back != at {
			t.Errorf("%s is read as %v, %v; want %v", b, back, err, at)
		}
	}
	for _, text := range []string{`"1"`, `1e11`, `-10000000001`, `true`, `[]`} {
		var at Time
		if err := json.Unmarshal([]byte(text), &at); err == nil {
			t.Errorf("%s is read as %v, want an error", text, at)
		}
	}
}

// A request without a deadline is still one after it was written down and read.
func TestRequest_SurvivesJSON(t *testing.T) {
	t.Parallel()
	want := Job{Name: "wave", Request: Request{Nodes: 2, Length: 80 * Second, MinPerformance: Unit, MaxPrice: 5_000_000, Budget: 8 * Credit, Ready: 1, Deadline: Never}}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Job
	if err := json.Unmarshal(b, &got); err != nil || got.Deadline != Never || got.Budget != want.Budget || got.Length != want.Length {
		t.Errorf("%s is read as %+v, %v", b, got, err)
	}
}

func TestTime_ReadsTOML(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    any
		want Time
	}{{int64(90), 90_000}, {1.5, 1500}, {"2h", Time(2 * Hour)}, {int64(-1), -1000}} {
		var at Time
		if err := at.UnmarshalTOML(c.v); err != nil || at != c.want {
			t.Errorf("%v is read as %v, %v; want %v", c.v, at, err, c.want)
		}
	}
	for _, v := range []any{"-2h", "noon", true, 1e12} {
		var at Time
		if err := at.UnmarshalTOML(v); err == nil {
			t.Errorf("%v is read as %v, want an error", v, at)
		}
	}
	var d Duration
	for _, v := range []any{int64(1800), 1800.0, "30m"} {
		if err := d.UnmarshalTOML(v); err != nil || d != 30*Minute {
			t.Errorf("%v is read as %v, %v; want 30 minutes", v, d, err)
		}
	}
	if err := d.UnmarshalTOML(false); err == nil {
		t.Error("false is read as a duration")
	}
	if err := json.Unmarshal([]byte(`"30m"`), &d); err != nil || d != 30*Minute {
		t.Errorf(`"30m" in JSON is read as %v, %v`, d, err)
	}
}

func TestTime_NeverIsLaterThanWhatASumCanReach(t *testing.T) {
	t.Parallel()
	if end := MaxTime.Add(MaxDuration).Add(MaxDuration); end >= Never || end <= MaxTime {
		t.Errorf("MaxTime and two MaxDurations come to %d, Never is %d", end, Never)
	}
	if Never.String() != "never" || Time(1500).String() != "1.5" || Duration(-250).String() != "-0.25" {
		t.Error("times are shown in seconds, Never as a word")
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"90", "90s", "30m", "2h", "1d", "0.5001h", "-1", "1e9", "d", "5ms"} {
		f.Add(text)
	}
	units := map[byte]int64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDuration(text)
		if err != nil || len(text) > 1000 {
			return
		}
		number, factor := strings.TrimSpace(text), int64(1)
		if u, ok := units[number[len(number)-1]]; ok {
			number, factor = number[:len(number)-1], u
		}
		if want := exactly(t, number, factor, 3); want.Cmp(big.NewInt(int64(d))) != 0 {
			t.Fatalf("ParseDuration(%q) = %d ms, want %v", text, d, want)
		}
	})
}
