package input

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
)

// want is what a job of a PROBLEM.json asks for, or a part of one: a part has from its job
// what it does not say.
type want struct {
	grid.JobPart
	priced bool // it, or its job, says a highest price
}

// wantKeys are the keys that a job and its parts share.
var wantKeys = []string{"name", "nodes", "length", "minPerformance", "maxPrice", "sites", "avoid", "spread"}

// read reads those keys. Nodes and length must be there if whole.
func (w *want) read(o *object, nodes, length bool) {
	w.Name = o.text("name")
	if nodes || o.has("nodes") {
		o.value("nodes", "a whole number of nodes", func(v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < 1 || n > MaxNodes {
				return fmt.Errorf("%s: must be a whole number, 1 to %d", v, MaxNodes)
			}
			w.Nodes = n
			return nil
		})
	}
	if length || o.has("length") {
		o.value("length", "seconds at performance 1", func(v string) error {
			d, err := grid.ParseDuration(v)
			if err == nil && d <= 0 {
				err = fmt.Errorf("%s: must be at least one millisecond", v)
			}
			w.Length = d
			return err
		})
	}
	if o.has("minPerformance") {
		o.value("minPerformance", "", func(v string) (err error) { w.MinPerformance, err = grid.ParsePerformance(v); return })
	}
	if o.has("maxPrice") {
		w.priced = true
		o.value("maxPrice", "", func(v string) (err error) { w.MaxPrice, err = grid.ParsePrice(v); return })
	}
	if o.has("sites") {
		w.Sites = o.texts("sites")
	}
	if o.has("avoid") {
		w.Avoid = o.texts("avoid")
	}
	if o.has("spread") {
		switch s := o.text("spread"); {
		case o.err != nil:
		case s != "any" && s != "one-site":
			o.err = fmt.Errorf("%s.spread: %q is unknown; must be any or one-site", o.path, s)
		default:
			w.OneSite = s == "one-site"
		}
	}
}

// parts reads the parts of a job, with what they have from it, and says which have no price.
func (o *object) parts(job *want) (list []grid.JobPart, unpriced []int) {
	if o.has("nodes") {
		o.err = fmt.Errorf("%s.nodes: stands beside parts, which have nodes of their own; leave it out", o.path)
		return nil, nil
	}
	err := o.each("parts", func(p *object) error {
		p.path = o.path + "." + p.path
		if err := p.keys(append(wantKeys, "offset")...); err != nil {
			return err
		}
		w := *job
		w.read(p, true, job.Length == 0)
		if p.has("offset") {
			p.value("offset", "", func(v string) (err error) { w.Offset, err = grid.ParseDuration(v); return })
		}
		if list = append(list, w.JobPart); !w.priced {
			unpriced = append(unpriced, len(list)-1)
		}
		return p.err
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s.parts: is empty; must have 1 to %d parts, or be left out", o.path, grid.MaxParts)
	}
	if err != nil {
		o.err = err
	}
	return list, unpriced
}

// partKeys are the keys of a batch file as a PROBLEM.json has them.
var partKeys = map[string]string{"min_performance": "minPerformance", "max_price": "maxPrice", "part": "parts"}

// check says what makes no sense in the parts, the sites and the rules of a request.
func (o *object) check(r *grid.Request) error {
	wrong := grid.CheckParts(r, MaxNodes)
	if wrong == nil {
		return nil
	}
	key := wrong.Key
	if k := partKeys[key]; k != "" {
		key = k
	}
	if wrong.Part < 0 {
		return fmt.Errorf("%s.%s: %w", o.path, key, wrong.Err)
	}
	return fmt.Errorf("%s.parts[%d].%s: %w", o.path, wrong.Part, key, wrong.Err)
}

// texts reads an array of names.
func (o *object) texts(key string) (list []string) {
	if o.err != nil {
		return nil
	}
	if err := json.Unmarshal(o.fields[key], &list); err != nil || list == nil {
		o.err = fmt.Errorf("%s.%s: %s is not an array of names; write [\"north\", \"south\"]", o.path, key, shown(o.fields[key]))
	}
	return list
}

// flag reads true or false; false if it is not there.
func (o *object) flag(key string) (b bool) {
	if raw, ok := o.fields[key]; ok && o.err == nil {
		if err := json.Unmarshal(raw, &b); err != nil || string(raw) == "null" {
			o.err = fmt.Errorf("%s.%s: %s is not true or false", o.path, key, shown(raw))
		}
	}
	return b
}
