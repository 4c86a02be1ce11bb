// Package members is what processes tell of themselves by gossip, as bytes and as a Member, and a
// directory of the living: where each agent is, as far as gossip knows.
package members
