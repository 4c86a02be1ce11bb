package input

import (
	"strings"
	"testing"
)

func TestParseProblem_Slices(t *testing.T) {
	const slot = `{"node":"n","start":0,"end":9,"performance":1,"price":1`
	const job = `{"name":"a","nodes":1,"length":5,"minPerformance":1,"maxPrice":1`
	for _, c := range []struct{ slots, job, want string }{
		{slot + `,"of":0}`, job + `}`, "slots[0].of: 0: must be a whole number of slices, 1 to 256"},
		{slot + `,"of":257}`, job + `}`, "slots[0].of: 257: must be a whole number of slices, 1 to 256"},
		{slot + `,"of":8,"free":0}`, job + `}`, "slots[0].free: 0: must be"},
		{slot + `,"of":8,"free":9}`, job + `}`, `slots[0].free: 9 is outside 1..8, the "of" of the file`},
		{slot + `,"free":2}`, job + `}`, `slots[0].free: 2 is outside 1..1, the "of" of the file`},
		{slot + `,"of":8},{"node":"m","start":0,"end":9,"performance":1,"price":1,"of":4}`, job + `}`, "slots[1].of: 4, but an earlier slot has 8"},
		{slot + `,"of":8}`, job + `,"slices":0}`, "jobs[0].slices: 0: must be a whole number of slices, 1 to 256"},
		{slot + `,"of":8}`, job + `,"slices":1.5}`, "jobs[0].slices: 1.5: must be"},
		{slot + `,"of":8}`, `{"name":"a","slices":2,"length":5,"maxPrice":1,"parts":[{"name":"p","nodes":1}]}`, "jobs[0].slices: stands beside parts"},
	} {
		_, err := parseProblem([]byte(`{"slots":[` + c.slots + `],"jobs":[` + c.job + `]}`))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", c.slots, err, c.want)
		}
	}
	p, err := parseProblem([]byte(`{"slots":[` + slot + `,"free":8},` + slot[:len(slot)-1] + `1,"of":8,"free":3}],"jobs":[` + job + `,"slices":2}]}`))
	if err == nil {
		if p.Slots[0].Free != 0 || p.Slots[1].Free != 3 || p.Nodes[0].Slices != 8 || p.Jobs[0].Portion.Slices != 2 {
			t.Errorf("%+v", p)
		}
	} else {
		t.Error(err)
	}
}
