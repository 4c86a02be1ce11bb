package configs

import (
	"strings"
	"testing"
)

func TestPresets_AllParseAndAreIntroduced(t *testing.T) {
	t.Parallel()
	for _, p := range Presets() {
		if len(p.About) < 30 {
			t.Errorf("preset %s: its first line says nothing: %q", p.Name, p.About)
		}
		s, err := Preset(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Sites) < 2 || len(s.Brokers) != 1 || s.Brokers[0].Workload == nil {
			t.Errorf("preset %s: %d sites, %d brokers", p.Name, len(s.Sites), len(s.Brokers))
		}
	}
}

func TestPreset_UnknownNameIsToldTheOthers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"defualt": `did you mean "default"?`, "egee": "must be one of default, three-traces"} {
		if _, err := Preset(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
