package report

import (
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/draw"
	"github.com/bourse-grid/bourse/report/lanes"
)

// mostBands bounds how many groups have a band of their own. Above it each
// site has one, which shows how full it was.
const mostBands = 120

// band is one row of the picture: a group, or a site where groups are too many.
type band struct {
	site  int
	name  string
	nodes int
	bars  []bar
	held  []bar           // legs that were held and have not run
	mixed []bar           // jobs and legs that share nodes: they have no lanes of their own
	laid  [][]lanes.Piece // of each bar
	y, h  draw.Px
}

// bands sorts what ran into bands, one for each group or one for each site.
func (r *Report) bands(whole bool) []band {
	var list []band
	first := make([]int, len(r.sites)) // band of a site's first group
	index := map[string]int{}
	for i, s := range r.sites {
		first[i], index[s.name] = len(list), i
		for k, g := range s.groups {
			if !whole || k == 0 {
				list = append(list, band{site: i, name: g.Name})
			}
			list[len(list)-1].nodes += g.Nodes
		}
		if whole && len(s.groups) > 1 {
			list[len(list)-1].name = grid.Count(len(s.groups), "group")
		}
	}
	at := func(site, group int) *band {
		if whole {
			group = 0
		}
		return &list[first[site]+group]
	}
	for i, s := range r.sites {
		for _, j := range s.rows {
			if end := min(j.end, r.until); j.start < grid.Never && end > j.start {
				b := at(i, int(j.group))
				if j.class == "shared" {
					b.mixed = append(b.mixed, bar{nodes: int(j.nodes), start: j.start, end: end, class: j.class, job: j.job,
						mixed: true, share: float64(j.nodes) * float64(j.work) / float64(end-j.start)})
					continue
				}
				b.bars = append(b.bars, bar{nodes: int(j.nodes), start: j.start, end: end, class: j.class, job: j.job})
			}
		}
	}
	colour := 0
	for _, one := range r.brokers {
		for _, tx := range one.placed {
			for k := range tx.Legs {
				l := &tx.Legs[k]
				i, known := index[l.Site]
				if start, end, ok := l.Ran(r.until); known && ok {
					b, one := at(i, r.sites[i].group(l.What.Group)), bar{nodes: l.What.Nodes, start: start, end: end, vo: true,
						tx: tx, leg: k, colour: colour, broker: one.name}
					switch x := l.What.Part; {
					case x.Some():
						one.mixed, one.share = true, float64(one.nodes)*float64(x.Slices)/float64(x.Of)
						b.mixed = append(b.mixed, one)
					case l.What.Work > 0:
						one.mixed, one.share = true, float64(one.nodes)*float64(r.sites[i].took(l))/float64(end-start)
						b.mixed = append(b.mixed, one)
					default:
						b.bars = append(b.bars, one)
					}
				}
			}
			colour++
		}
	}
	return list
}

// addTried adds the legs that were held and released, or still are held, to the
// bands of their groups.
func (r *Report) addTried(bands []band) {
	at := map[[2]string]*band{}
	for i := range bands {
		at[[2]string{r.sites[bands[i].site].name, bands[i].name}] = &bands[i]
	}
	add := func(b *vo, tx *transaction) {
		for k := range tx.Legs {
			l := &tx.Legs[k]
			to := at[[2]string{l.Site, l.What.Group}]
			if to == nil || l.What.Part.Some() || l.State != grid.Held && l.State != grid.Prepared {
				continue
			}
			if start, end := l.What.Start, min(l.What.End, r.until); start < end {
				to.held = append(to.held, bar{nodes: l.What.Nodes, start: start, end: end, vo: true, tx: tx, leg: k, broker: b.name, tried: true})
			}
		}
	}
	for _, b := range r.brokers {
		for _, tx := range b.tried {
			add(b, tx)
		}
		for _, tx := range b.undecidedTxs() {
			add(b, tx)
		}
	}
}
