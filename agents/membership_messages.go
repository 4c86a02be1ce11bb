package agents

// SiteJoined and SiteLeft tell a running broker which sites there are. They are hints from
// a discovery service. A site that has left gets no new requests, but obligations to it and
// from it remain.
type (
	SiteJoined struct{ Site ID }
	SiteLeft   struct{ Site ID }
)

// SiteLost is an operator's message to a broker that a site will not come back. Its legs
// are given up, and the broker asks it only what became of them. SiteFound reverses that:
// the site is used again once it has listed its legs. Each is answered by an OperatorReply
// once it is durable; a repeat changes nothing.
type (
	SiteLost struct {
		Site ID
		Why  string // shown to users whose jobs are affected; may be empty
	}
	SiteFound struct{ Site ID }
)

// Kind names the message.
func (SiteLost) Kind() string   { return "SiteLost" }
func (SiteFound) Kind() string  { return "SiteFound" }
func (SiteJoined) Kind() string { return "SiteJoined" }
func (SiteLeft) Kind() string   { return "SiteLeft" }
