//go:build plants

package plant

// overlaid reports whether this build has the planted bugs: their overlay replaces this
// file by another one.
const overlaid = false
