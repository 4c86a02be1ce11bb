package grid

import "testing"

func TestRequirement_NamesTheFirstThingThatLacks(t *testing.T) {
	t.Parallel()
	node := Machine{Memory: 64 << 30, Disk: 1 << 40, GPUs: 2, OS: "linux", Arch: "amd64", Features: []string{"avx512", "ib"}}
	for _, c := range []struct {
		r    Requirement
		want string
	}{
		{Requirement{}, ""},
		{Requirement(node), ""}, // exactly what there is
		{Requirement{Memory: 64<<30 + 1}, "memory"},
		{Requirement{Disk: 1<<40 + 1}, "disk"},
		{Requirement{GPUs: 3}, "gpus"},
		{Requirement{OS: "Linux", Arch: "AMD64"}, ""}, // case does not matter
		{Requirement{OS: "plan9"}, "os plan9"},
		{Requirement{Arch: "arm64"}, "arch arm64"},
		{Requirement{Features: []string{"ib"}}, ""},
		{Requirement{Features: []string{"ib", "sve", "mmx"}}, "feature sve"},
		{Requirement{Memory: 1 << 50, GPUs: 9}, "memory"},
	} {
		if got := c.r.Unmet(node); got != c.want || c.r.MetBy(node) != (c.want == "") {
			t.Errorf("%+v lacks %q, want %q", c.r, got, c.want)
		}
	}
	if got := (Requirement{OS: "linux"}).Unmet(Machine{}); got != "os linux" {
		t.Errorf("a node that does not say its OS lacks %q", got)
	}
}
