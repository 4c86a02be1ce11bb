package replica

import (
	"bytes"
	"fmt"
	"testing"
)

func TestImage_PartsComeBackAsTheyWereAndTakeLittle(t *testing.T) {
	var i image
	var were []Part
	for k := range 3 {
		p := Part{Index: 7, Term: 2, Part: k, Parts: 3}
		for n := range 500 * k { // the first has none, as of an agent without a past
			p.Fact = fmt.Appendf(p.Fact, `{"job":"job%d","user":"user%d","nodes":%d},`, n, n%9, n%64)
		}
		were = append(were, p)
		i.add(p)
	}
	kept, size := 0, 0
	for k, was := range were {
		size += len(was.Fact)
		kept += cap(i.facts[k])
		if p := i.part(k); p.Part != k || p.Index != 7 || p.Term != 2 || !bytes.Equal(p.Fact, was.Fact) {
			t.Errorf("part %d came back as %v", k, p)
		}
	}
	if !i.whole() || i.size != size || kept > size/3 {
		t.Errorf("whole %v; %d bytes of facts were added and %d are counted, in %d", i.whole(), size, i.size, kept)
	}
}
