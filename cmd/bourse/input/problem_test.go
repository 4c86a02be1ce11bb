package input

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

func FuzzParseProblem(f *testing.F) {
	f.Add([]byte(`{"slots": [{"node":"a","start":0,"end":60000,"performance":1,"price":14.4},
{"node":"b","start":0,"end":260000,"performance":1.5,"price":18}],
"jobs": [{"name":"J1","nodes":2,"length":80000,"minPerformance":1,"maxPrice":18,"budget":800,"ready":0,"deadline":90000}]}`))
	f.Add([]byte(`{"slots": [], "jobs": []}`))
	f.Add([]byte(`{"slots":[{"node":"a","start":0,"end":9,"performance":1,"price":1,"free":3,"of":8}],"jobs":[{"name":"x","nodes":1,"length":5,"minPerformance":1,"maxPrice":2,"slices":2}]}`))
	f.Add([]byte(`{"slots":[{"node":"a","site":"A","start":0,"end":9,"performance":1,"price":1}],"jobs":[{"name":"x","budget":9,"apart":true,"parts":[{"name":"p","nodes":1,"length":5,"sites":["A"]},{"name":"q","nodes":2,"length":5,"offset":3,"maxPrice":2,"avoid":["B"],"spread":"one-site"}]}]}`))
	f.Add([]byte(`{"slots":[{"node":"a","start":-1e10,"end":1e10,"performance":1000,"price":1e6}],"jobs":[{"name":"x","nodes":1000000,"length":1e10,"minPerformance":0.001,"budget":1e12}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parseProblem(b)
		if err != nil {
			if p != nil && strings.TrimSpace(err.Error()) == "" {
				t.Fatal("an error without words")
			}
			return
		}
		for i, r := range p.Jobs {
			if r.Nodes < 1 || r.Length < 1 || r.MinPerformance < 1 || r.Budget < 0 || r.MaxPrice < 0 || p.Names[i] == "" {
				t.Fatalf("accepted %+v", r)
			}
			if wrong := grid.CheckParts(&r, MaxNodes); wrong != nil || !r.Whole() {
				t.Fatalf("accepted %+v: %v", r, wrong)
			}
		}
		for _, s := range p.Slots {
			if k := p.Nodes[s.Group].Divided(); k > grid.MaxSlices || s.Free < 0 || s.Free > 0 && int(s.Free) >= k {
				t.Fatalf("accepted %+v of %d slices", s, k)
			}
			if s.Start >= s.End || s.Performance < 1 || s.Price < 0 || int(s.Group) >= len(p.Nodes) {
				t.Fatalf("accepted %+v", s)
			}
		}
	})
}
