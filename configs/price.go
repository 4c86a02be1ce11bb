package configs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
)

// curve is how a site's prices change over time, as read from tables or from a separate
// file.
type curve struct {
	pieces []grid.PricePiece
	file   string
	repeat grid.Duration
}

// onePrice says why some sites cannot change their prices over time.
const onePrice = "a site that moves agreed jobs (sla-*) or shares its nodes over time (libra, edf) cannot know at which hours a job will run, so its price must not change over time; leave the key out"

var withHours = &keys.Condition{Text: "with a queue", Refused: onePrice, Holds: func(t *keys.Table) bool { return !withPromises.Holds(t) && !withShares.Holds(t) }}

// prices lists the keys of how prices change over time for a site's groups, which are read
// before them.
func prices(groups *[]grid.Group, file *string) keys.List {
	c := &curve{}
	return keys.List{
		keys.Each("price", &c.pieces, grid.MaxPricePieces, pieceKeys, "factors on the price of all groups over time, in any order; at other times the factor is 1").When(withHours),
		keys.Custom("price_file", keys.About{Kind: "file"}, func(t *keys.Table, key string) { c.file = t.File(key, "") },
			"file with factors on the price of all groups over time, in lines `from,factor`; each applies until the next line, the last one for ever or until the factors repeat. Alternative to [[price]] tables").When(withHours),
		keys.Span("price_repeat", &c.repeat, 0, grid.MinPriceRepeat, "the factors repeat after this time, such as 1d or 7d. A process counts from the start of 1970, a Thursday, in UTC").ByDefault("no repetition").When(withHours),
		keys.Rule(func(t *keys.Table) { *file = c.file; c.apply(t, *groups) }),
	}
}

// pieceKeys lists the keys of [[price]].
func pieceKeys(p *grid.PricePiece) keys.List {
	var factor Thousandths
	return keys.List{
		instant("from", &p.From, "when it begins").Must(`"22h"`),
		instant("to", &p.To, "when it ends").Must(`"30h"`),
		keys.Share("factor", &factor, One, 0, grid.MaxPriceFactor, "factor on the price of a node-hour").Must("0.5"),
		keys.Rule(func(*keys.Table) { p.Factor = int(factor) }),
	}
}

// instant is a time since the scenario's zero or, elsewhere, an RFC 3339 date.
func instant(name string, to *grid.Time, doc string) keys.Key {
	return keys.Custom(name, keys.About{Kind: "duration after the zero of time, or a date in a process"}, func(t *keys.Table, key string) {
		m := readMoment(t, key, 0, t.In == kinds.InScenario, "its zero")
		if *to = grid.Time(m.After); !m.Date.IsZero() {
			*to = grid.Time(m.Date.UnixMilli())
		}
	}, doc)
}

// apply gives the groups of a site the curve that was read.
func (c *curve) apply(t *keys.Table, groups []grid.Group) {
	key := "price"
	if c.file != "" {
		key = "price_file"
	}
	switch {
	case !t.Clean("price") || !t.Clean("price_file") || !t.Clean("price_repeat"):
		return
	case c.file != "" && len(c.pieces) > 0:
		t.Wrong("price_file", "cannot be combined with [[price]] tables; leave one of them out")
		return
	case c.file == "" && len(c.pieces) == 0:
		if c.repeat > 0 {
			t.Wrong("price_repeat", "needs [[price]] tables or a price_file; add them, or leave the key out")
		}
		return
	}
	where := func(i int) string { return fmt.Sprintf("line %d", t.Line(t.Path.Key("price").At(i))) }
	wrong := func(i int, text string) {
		if at := t.Path.Key(key); i >= 0 && c.file == "" {
			t.WrongAt(at.At(i), "%s", text)
		} else {
			t.WrongAt(at, "%s", text)
		}
	}
	if c.file != "" {
		rows, err := readHours(c.file, c.repeat, t.In == kinds.InScenario, aroundOf(t).files)
		if err != nil {
			t.Wrong("price_file", "%v", err)
			return
		}
		c.pieces = rows.pieces
		where = func(i int) string { return fmt.Sprintf("line %d", rows.lines[i]) }
		wrong = func(i int, text string) {
			if i >= 0 {
				text = fmt.Sprintf("%s:%d: %s", c.file, rows.lines[i], text)
			}
			t.Wrong("price_file", "%s", text)
		}
	}
	made, err := grid.NewPriceCurve(c.pieces, c.repeat)
	if bad := (*grid.PieceError)(nil); errors.As(err, &bad) {
		text := bad.Text
		if bad.Other >= 0 {
			text += " of " + where(bad.Other)
		}
		wrong(bad.Piece, text)
		return
	}
	for i := range groups {
		g := &groups[i]
		g.Curve = made
		if most := g.Dearest(-grid.MaxTime, grid.MaxTime); most > grid.MaxPrice {
			wrong(-1, fmt.Sprintf("makes a node of group %q cost up to %v credits per hour; must be at most %v", g.Name, most, grid.MaxPrice))
		}
	}
}

// hours is a file of factors, with the line of each piece.
type hours struct {
	pieces []grid.PricePiece
	lines  []int // from 1
}

// hoursHead may be the first line of such a file.
const hoursHead = "from,factor"

// readHours reads a file of lines "from,factor" in order of time. Each factor applies until
// the next line, the last one for ever or until the factors repeat. Empty lines and lines
// that begin with "#" are skipped.
func readHours(file string, repeat grid.Duration, simulated bool, with *opened) (*hours, error) {
	text, err := with.text(file, kinds.ReadFile)
	if err != nil {
		return nil, err
	}
	out, n := &hours{}, 0
	wrong := func(format string, args ...any) (*hours, error) {
		return nil, fmt.Errorf("%s:%d: %s", file, n, fmt.Sprintf(format, args...))
	}
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || len(out.pieces) == 0 && line == hoursHead {
			continue
		}
		from, factor, two := strings.Cut(line, ",")
		if !two || strings.Contains(factor, ",") {
			return wrong("%q: must be %s, such as 6h,0.5", line, hoursHead)
		}
		at, err := readHour(strings.TrimSpace(from), simulated)
		if err != nil {
			return wrong("from: %v", err)
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(factor), 64)
		if err != nil {
			return wrong("factor %q: must be a number from 0 to %d", factor, grid.MaxPriceFactor/1000)
		}
		by, err := keys.ParseThousandths(f)
		if err != nil {
			return wrong("factor: %v; must be a number from 0 to %d", err, grid.MaxPriceFactor/1000)
		}
		if k := len(out.pieces); k == grid.MaxPricePieces {
			return wrong("more than %d lines of factors", k)
		} else if k > 0 {
			if before := &out.pieces[k-1]; at <= before.From {
				return wrong("%v is not after %v of line %d; lines must be in order of time", at, before.From, out.lines[k-1])
			}
			out.pieces[k-1].To = at
		}
		out.pieces, out.lines = append(out.pieces, grid.PricePiece{From: at, To: grid.Never, Factor: int(by)}), append(out.lines, n)
	}
	if len(out.pieces) == 0 {
		return nil, fmt.Errorf("%s: must have lines %s", file, hoursHead)
	}
	if first, last := out.pieces[0], &out.pieces[len(out.pieces)-1]; repeat > 0 {
		if last.From >= first.From.Add(repeat) {
			n = out.lines[len(out.lines)-1]
			return wrong("%v is %s or more after %v, when the factors already repeat", last.From, repeat.Words(), first.From)
		}
		last.To = first.From.Add(repeat)
	}
	return out, nil
}

// readHour reads seconds, a span since the zero of time, or a date.
func readHour(s string, simulated bool) (grid.Time, error) {
	if date, err := time.Parse(time.RFC3339, s); err == nil {
		switch {
		case simulated:
			return 0, fmt.Errorf("%q is a date, but a simulation has no dates; must be a span after its zero, such as 6h", s)
		case date.Year() < 1970 || date.Year() > 2200:
			return 0, fmt.Errorf("%q is outside the years 1970..2200", s)
		}
		return grid.Time(date.UnixMilli()), nil
	}
	if t, err := grid.ParseTime(s); err == nil {
		return t, nil
	}
	d, err := grid.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q: must be seconds, a duration such as 6h or, in a process, an RFC 3339 date", s)
	}
	return grid.Time(d), nil
}
