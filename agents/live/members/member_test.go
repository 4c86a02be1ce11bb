package members

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/wire"
)

func someMember(t *rapid.T) Member {
	oldest := rapid.Uint32Range(1, 5).Draw(t, "oldest")
	return Member{
		Agent:   agents.ID(rapid.StringMatching(`(site|broker):[a-z0-9._-]{1,100}`).Draw(t, "agent")),
		Address: rapid.StringMatching(`[a-z0-9.]{1,200}:[1-9][0-9]{0,3}`).Draw(t, "address"),
		Life:    rapid.Uint64Min(1).Draw(t, "life"), Oldest: oldest, Version: oldest + rapid.Uint32Range(0, 3).Draw(t, "versions"),
		Digest: rapid.Uint64().Draw(t, "digest"), Flags: Flags(rapid.Byte().Draw(t, "flags")), Term: rapid.Uint64().Draw(t, "term"),
	}
}

// A member's description of itself is read as it was written, also by a build that
// knows fewer fields, and fits into gossip.
func TestMember_IsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := someMember(t)
		meta, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if len(meta) > metaMax {
			t.Fatalf("%d bytes", len(meta))
		}
		more := rapid.SliceOfN(rapid.Byte(), 0, metaMax-len(meta)).Draw(t, "of a newer build")
		if back, err := Decode(m.Node(), append(meta, more...)); err != nil || back != m {
			t.Fatalf("read %+v, %v instead of %+v", back, err, m)
		}
		if _, err := Decode(m.Node()+"x", meta); err == nil {
			t.Fatal("read under another's name")
		}
	})
}

func TestMember_RefusesWhatIsTooLargeOrNobody(t *testing.T) {
	t.Parallel()
	good := Member{Agent: "site:north", Address: "10.0.0.1:7000", Life: 1, Oldest: 1, Version: 1}
	for _, c := range []struct {
		change func(*Member)
		want   string
	}{
		{func(m *Member) { m.Address = strings.Repeat("a", 600) + ":1" }, "at most 512"},
		{func(m *Member) { m.Agent = "cluster:north" }, "site:NAME"},
		{func(m *Member) { m.Agent = "site:" }, "site:NAME"},
		{func(m *Member) { m.Agent = "site:a#b" }, "a #"},
		{func(m *Member) { m.Agent = "site:a\nb" }, "character 2 is U+000A"},
		{func(m *Member) { m.Agent = "site:a\u009b2J" }, "character 2 is U+009B"},
		{func(m *Member) { m.Address = "north" }, "HOST:PORT"},
		{func(m *Member) { m.Address = "north:0" }, "HOST:PORT"},
		{func(m *Member) { m.Address = ":7000" }, "HOST:PORT"},
		{func(m *Member) { m.Life = 0 }, "begin at 1"},
		{func(m *Member) { m.Oldest = 2 }, "begin at 1"},
	} {
		m := good
		c.change(&m)
		if _, err := m.Encode(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one with %q", m, err, c.want)
		}
	}
}

// Whatever gossip says is read or refused, under the name that it gives itself and under
// another.
func FuzzDecodeMember(f *testing.F) {
	m := Member{Agent: "site:north", Address: "10.0.0.1:7000", Life: 1, Oldest: 1, Version: 1, Digest: 1 << 60, Flags: Leaving, Term: 7}
	meta, err := m.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add("", meta)
	f.Add("", meta[:len(meta)-1])
	f.Add("", append(meta[:len(meta):len(meta)], "of a newer build"...))
	f.Add("site:north#1", []byte{metaFormat, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, node string, meta []byte) {
		if node == "" && len(meta) > 0 { // without this hardly anything is read beyond its name
			r := metaReader{b: meta[1:]}
			agent := agents.ID(r.text())
			r.text()
			node = Member{Agent: agent, Life: r.number()}.Node()
		}
		m, err := Decode(node, meta)
		if err != nil {
			return
		}
		again, err := m.Encode()
		if err != nil {
			t.Fatalf("%+v was read and cannot be written: %v", m, err)
		}
		if back, err := Decode(node, again); err != nil || back != m {
			t.Fatalf("%+v was read back as %+v, %v", m, back, err)
		}
		if _, err := Decode(node+"0", meta); err == nil {
			t.Fatalf("%+v is read under another name", m)
		}
	})
}

// The directory agrees with a list that is searched anew each time, and its
// changes tell a listener all that it needs.
func TestDirectory_AgreesWithAPlainList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := New()
		living := map[string]Member{}
		told := map[agents.ID]Member{}
		for range rapid.IntRange(1, 60).Draw(t, "words") {
			m := Member{Agent: agents.ID(rapid.SampledFrom([]string{"site:a", "site:b", "broker:c"}).Draw(t, "agent")), Address: "h:1",
				Life: rapid.Uint64Range(1, 4).Draw(t, "life"), Oldest: 1, Version: 1, Digest: rapid.Uint64Range(0, 1).Draw(t, "digest"),
				Flags: rapid.SampledFrom([]Flags{0, Leaving, 4 /* no flag of ours */}).Draw(t, "flags")}
			alive := rapid.Bool().Draw(t, "alive")
			if living[m.Node()] = m; !alive {
				delete(living, m.Node())
			}
			switch c := d.Hear(m, alive); c.Kind {
			case Came, Told:
				told[c.Agent] = c.Member
			case Went:
				delete(told, c.Agent)
			}
			for _, id := range []agents.ID{"site:a", "site:b", "broker:c"} {
				want, any := best(living, id)
				if got, known := d.Find(id); known != any || got != want {
					t.Fatalf("%s is %+v, %v; want %+v, %v", id, got, known, want, any)
				}
				heard, has := told[id]
				if usable := any && want.Flags&Leaving == 0; has != usable || usable && heard != want {
					t.Fatalf("a listener takes %s for %+v, %v; it is %+v, %v", id, heard, has, want, usable)
				}
			}
		}
	})
}

// best finds the right life, the slow way.
func best(living map[string]Member, id agents.ID) (found Member, any bool) {
	for _, m := range living {
		better := m.Flags&Leaving < found.Flags&Leaving || m.Flags&Leaving == found.Flags&Leaving && m.Life > found.Life
		if m.Agent == id && (!any || better) {
			found, any = m, true
		}
	}
	return found, any
}

// A process too many is not taken in; one less makes room.
func TestDirectory_IsBounded(t *testing.T) {
	t.Parallel()
	d := New()
	at := func(i int) Member {
		return Member{Agent: agents.ID(fmt.Sprint("site:", i)), Address: "h:1", Life: 1, Oldest: wire.Oldest, Version: wire.Version}
	}
	for i := range Most + 5 {
		d.Hear(at(i), true)
	}
	if n, beyond := len(d.Members()), d.Beyond(); n != Most || beyond != 5 {
		t.Errorf("%d members, %d turned away", n, beyond)
	}
	if !slices.IsSortedFunc(d.Members(), func(a, b Member) int { return strings.Compare(string(a.Agent), string(b.Agent)) }) {
		t.Error("members are not in order")
	}
	d.Hear(at(0), false)
	if c := d.Hear(at(Most), true); c.Kind != Came {
		t.Errorf("there is room again, but %+v", c)
	}
}

// Of two processes without a common version the older one is to be upgraded.
func TestMember_SaysWhichIsTooOld(t *testing.T) {
	t.Parallel()
	if says := (Member{Oldest: 3, Version: 4}).TooOld(5); !strings.HasPrefix(says, "it is of too old a release") {
		t.Errorf("of versions 3 to 4, where 5 is the oldest: %s", says)
	}
}
