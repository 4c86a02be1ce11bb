package configs

import (
	"embed"
	"fmt"

	"strings"

	"github.com/bourse-grid/bourse/configs/keys"
)

//go:embed presets/*.toml
var presetFiles embed.FS

// presetNames lists the presets in the order in which they are shown.
var presetNames = []string{"default", "three-traces", "lcg", "sla", "unequal", "gpus"}

// Embedded is a scenario that comes with the binary.
type Embedded struct {
	Name  string
	About string // its first comment, in one line
	Text  []byte // the TOML, with comments that explain it; a start for your own scenarios
}

// Presets returns the embedded scenarios. The first one is the default of a simulation.
func Presets() []Embedded {
	out := make([]Embedded, len(presetNames))
	for i, name := range presetNames {
		text, err := presetFiles.ReadFile("presets/" + name + ".toml")
		if err != nil {
			panic(err) // presetNames and the embedded files differ
		}
		first, _, _ := strings.Cut(string(text), "\n")
		out[i] = Embedded{Name: name, About: strings.TrimSpace(strings.TrimPrefix(first, "#")), Text: text}
	}
	return out
}

// Preset returns an embedded scenario by its name. If it has traces, call ResolveTraces.
func Preset(name string) (*Scenario, error) {
	for _, p := range Presets() {
		if p.Name == name {
			return Source{Name: "preset " + name, Text: string(p.Text)}.Scenario()
		}
	}
	return nil, fmt.Errorf("no preset is named %q%s", name, keys.Choose(name, presetNames))
}
