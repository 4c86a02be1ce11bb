//go:build plants

package plant

// overlaid reports whether this build has the planted bugs: the overlay that
// brings them has another file in this one's place.
const overlaid = false
