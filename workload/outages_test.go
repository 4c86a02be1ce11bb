package workload

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

func TestParseOutages_NamesTheLineAndTheRemedy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "o.csv: is empty; must have the line group,nodes,from,to, then a line for each outage",
		"# nothing\n":                  "o.csv: is empty",
		"main,1,0,1\n":                 `o.csv:1: "main,1,0,1": the first line must be group,nodes,from,to`,
		OutagesHead + "\nmain,1,0\n":   `o.csv:2: "main,1,0": must be group,nodes,from,to, such as main,4,6h,8h`,
		OutagesHead + "\nm,0,0,1\n":    `o.csv:2: nodes "0": must be a whole number from 1`,
		OutagesHead + "\nm,x,0,1\n":    `o.csv:2: nodes "x": must be a whole number from 1`,
		OutagesHead + "\nm,1,-1,1\n":   `o.csv:2: from "-1": must be seconds or a duration such as 6h, from 0`,
		OutagesHead + "\n\nm,1,0,x\n":  `o.csv:3: to "x": must be seconds or a duration such as 6h, from 0`,
		OutagesHead + "\nm,1,6h,21600": `o.csv:2: to "21600" is not after from "6h"`,
	} {
		_, err := ParseOutages("o.csv", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseOutages(f *testing.F) {
	f.Add([]byte(OutagesHead + "\nmain,4,1h,2h\n# x\nmain,1,7200,3h\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := ParseOutages("o", text)
		if err != nil {
			return
		}
		for _, o := range list {
			if o.Nodes < 1 || o.From < 0 || o.For <= 0 || o.From.Add(o.For) > grid.Time(grid.MaxDuration) {
				t.Fatalf("%+v", o)
			}
		}
	})
}
