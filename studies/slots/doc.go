// Package slots is the study of slot search: ALP, AMP and the selection under a VO's limits on
// cycles drawn as Toporkov et al. (section 5) draw them, and beside them bounds that the paper
// left out.
package slots
