package sites

// Page shows up to most of the legs that hold nodes, in order of their holds,
// without the first skip of them; more says that there are others after them.
func (s *Site) Page(skip, most int) (list []OpenLeg, more bool) {
	for l := range s.open.each {
		switch {
		case skip > 0:
			skip--
		case len(list) == most:
			return list, true
		default:
			list = append(list, s.openLeg(l))
		}
	}
	return list, false
}

// Name is the site's name.
func (s *Site) Name() string { return s.cfg.Name }
