package configs

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// FuzzCheck reads anything as every kind of file: no panic, every error a
// *Problems with lines that the text has, and what is accepted is in range.
func FuzzCheck(f *testing.F) {
	for _, p := range Presets() {
		f.Add(p.Text)
	}
	for _, s := range []string{twoSites, smallScenario, figure1, smallBroker, smallProcess, tideProcess, wave, smallBatch, "a = [", "job = [{}]", "[broker]\n\"\" = 1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := 1 + strings.Count(string(text), "\n")
		judge := func(err error) {
			if err == nil {
				return
			}
			var all *Problems
			if !errors.As(err, &all) || len(all.List) == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			for _, p := range all.List {
				if p.Line < 0 || p.Line > lines || p.Text == "" {
					t.Fatalf("%v, of %d lines", p, lines)
				}
			}
		}
		s, err := ParseScenario("f", text)
		if judge(err); err == nil && (s.MeanPrice() < 0 || len(s.Sites) == 0 || s.Until <= 0) {
			t.Fatalf("%+v", s)
		}
		b, err := ParseBatch("f", text)
		judge(err)
		for i := range b.all() {
			j := b.Jobs[i].At(1, time.Time{})
			if j.Nodes < 1 || j.Length <= 0 || j.Budget < 0 || j.MaxPrice < 0 || b.Jobs[i].Deadline.Date.IsZero() && j.Deadline <= j.Ready && b.Jobs[i].Ready.Date.IsZero() {
				t.Fatalf("%+v", j)
			}
		}
		_, err = ParseSite("f", text)
		judge(err)
		_, err = ParseBroker("f", text)
		judge(err)
		_, err = checkText("f", text)
		judge(err)
	})
}

func (b *Batch) all() []Job {
	if b == nil {
		return nil
	}
	return b.Jobs
}
