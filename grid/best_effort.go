package grid

// Queueing is a job that would be put at the end of a group's local queue, as somebody asks
// about it. Nothing is put there.
type Queueing struct {
	Group string
	Nodes int      // 1 to those of the group
	Limit Duration // it may run that long; above 0
}

// BestEffort is when such a job would probably start: an answer of the moment, which promises
// nothing, and by which nothing is priced. The zero BestEffort says nothing.
type BestEffort struct {
	Median     Time `json:"median"` // Never: it may not start
	Lower      Time `json:"lower"`
	Upper      Time `json:"upper"`
	AtOnce     bool `json:"atOnce,omitempty"`     // it starts at the instant of the answer, which all three are
	Level      int  `json:"level"`                // percent of such starts that lie from Lower to Upper; 0: nothing is known
	Calibrated bool `json:"calibrated,omitempty"` // the band is made from what came of earlier forecasts
	Held       int  `json:"held,omitempty"`       // of the bands said before whose start is known: how many held it
	Of         int  `json:"of,omitempty"`         // and how many there are
}

// Known reports whether there is an answer.
func (b *BestEffort) Known() bool { return b.Level > 0 }

// Sooner reports whether b probably starts before o: by the median, then by the upper bound. What
// is not known is later than all that is.
func (b *BestEffort) Sooner(o *BestEffort) bool {
	switch {
	case b.Known() != o.Known():
		return b.Known()
	case b.Median != o.Median:
		return b.Median < o.Median
	}
	return b.Upper < o.Upper
}
