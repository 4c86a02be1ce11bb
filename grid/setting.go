package grid

import "slices"

// Setting is one setting of an agent that has changed: its key as in the agent's file, such
// as "group main: price", and its values in words. "" stands for no value.
type Setting struct {
	Key string `json:"key"`
	Was string `json:"was"`
	Is  string `json:"is"`
}

// MaxSetting bounds the bytes of each of the three texts of a Setting.
const MaxSetting = 256

// GroupNodes is how many nodes a group of a site has.
type GroupNodes struct {
	Group string `json:"group"`
	Nodes int    `json:"nodes"`
	Was   int    `json:"was,omitempty"` // before, if that differs and is known
}

// Sizes lists how many nodes groups have, and had before by another such list, which may be
// nil. It has no entry for a group that is gone.
func Sizes(groups []Group, before []GroupNodes) []GroupNodes {
	var list []GroupNodes
	for _, g := range groups {
		x := GroupNodes{Group: g.Name, Nodes: g.Nodes}
		for _, b := range before {
			if b.Group == g.Name && b.Nodes != g.Nodes {
				x.Was = b.Nodes
			}
		}
		list = append(list, x)
	}
	return list
}

// SameSizes reports whether groups are those of a list, with as many nodes.
func SameSizes(groups []Group, list []GroupNodes) bool {
	return slices.EqualFunc(groups, list, func(g Group, x GroupNodes) bool { return g.Name == x.Group && g.Nodes == x.Nodes })
}

// WithoutPast is such a list without what was before. It shares nothing with it.
func WithoutPast(list []GroupNodes) []GroupNodes {
	list = slices.Clone(list)
	for i := range list {
		list[i].Was = 0
	}
	return list
}
