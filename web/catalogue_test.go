package web

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// A job that only a site remembers is there under its identity, and becomes that
// of its batch when its user submits it again.
func TestCatalogue_AnAdoptedJobBecomesItsUsersAgain(t *testing.T) {
	t.Parallel()
	c := newCatalogue()
	c.add(&grid.Job{Name: "wave-k3f9m2q7", User: "ana"})
	if e, ok := c.get("wave-k3f9m2q7"); !ok || e.label != "wave-k3f9m2q7" || e.user != "ana" {
		t.Fatalf("adopted: %+v, %t", e, ok)
	}
	again := &grid.Job{Name: "wave-k3f9m2q7", User: "ana", Origin: grid.Origin{Batch: "b-1", Label: "wave", Digest: "d"}}
	c.add(again)
	c.add(again)
	c.add(&grid.Job{Name: "wave-k3f9m2q7", User: "ana"})
	ana := Caller{Role: User, Name: "ana"}
	e, _ := c.get("wave-k3f9m2q7")
	if list := c.before(nil, filter{who: ana}, 100, 10); len(list) != 1 || list[0] != e || e.label != "wave" || e.batch != "b-1" {
		t.Errorf("submitted again: %+v, listed as %+v", e, list)
	}
	if list := c.named(ana, "wave"); len(list) != 1 || list[0] != e {
		t.Errorf("by its name: %+v", list)
	}
	if c.forget([]string{e.id, e.id, "another"}); len(c.list) != 0 || len(c.named(ana, "wave")) != 0 {
		t.Errorf("forgotten: %+v", c.list)
	}
	if _, ok := c.batch("ana", "b-1"); ok {
		t.Error("its batch is known")
	}
}

// The index finds what a plain list of all jobs has, whatever was added, adopted and
// forgotten.
func TestCatalogue_FindsWhatAPlainListHas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, last := newCatalogue(), uint64(0)
		var plain []entry
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			label := fmt.Sprint("job", rapid.IntRange(0, 3).Draw(t, "label"))
			user := rapid.SampledFrom([]string{"ana", "bob"}).Draw(t, "user")
			batch := fmt.Sprint("b-", rapid.IntRange(0, 5).Draw(t, "batch"))
			e := entry{id: label + "-" + user + batch, label: label, user: user, batch: batch}
			i := slices.IndexFunc(plain, func(x entry) bool { return x.id == e.id })
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				c.forget([]string{e.id})
				plain = slices.DeleteFunc(plain, func(x entry) bool { return x.id == e.id })
				continue
			case 1: // only a site knows it
				e.label, e.batch = e.id, ""
			}
			c.add(&grid.Job{Name: e.id, User: e.user, Origin: grid.Origin{Batch: e.batch, Digest: "digest of " + e.batch, Label: e.label}})
			if i >= 0 && (plain[i].batch != "" || e.batch == "") {
				continue
			}
			if i >= 0 {
				plain = slices.Delete(plain, i, i+1)
			}
			last++
			e.number = last
			plain = append(plain, e)
		}
		newest := slices.Clone(plain)
		slices.Reverse(newest)
		all := Caller{Role: Operator, Name: "olga"}
		if got := c.before(nil, filter{who: all}, 1000, 1000); !slices.Equal(got, newest) {
			t.Fatalf("all: %+v, want %+v", got, newest)
		}
		for _, e := range plain {
			if got, ok := c.get(e.id); !ok || got != e {
				t.Fatalf("%s: %+v", e.id, got)
			}
			var named []entry
			for _, x := range newest {
				if x.label == e.label && x.user == "ana" {
					named = append(named, x)
				}
			}
			if got := c.named(Caller{Role: User, Name: "ana"}, e.label); e.label != e.id && !slices.Equal(got, named) {
				t.Fatalf("%s: %+v, want %+v", e.label, got, named)
			}
			if b, ok := c.batch(e.user, e.batch); e.batch != "" && (!ok || b != batch{"digest of " + e.batch, e.user + e.batch}) {
				t.Fatalf("batch %s of %s: %+v", e.batch, e.user, b)
			}
		}
		for b := range 6 {
			known := slices.ContainsFunc(plain, func(x entry) bool { return x.user == "bob" && x.batch == fmt.Sprint("b-", b) })
			if _, ok := c.batch("bob", fmt.Sprint("b-", b)); ok != known {
				t.Fatalf("batch %d of bob: known %t, want %t", b, ok, known)
			}
		}
	})
}
