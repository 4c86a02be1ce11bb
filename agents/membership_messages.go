package agents

// SiteJoined and SiteLeft tell a broker which sites there are, while it runs.
// They are hints of a discovery service: a site that has left is asked for
// nothing new, but what is owed to it and by it stands.
type (
	SiteJoined struct{ Site ID }
	SiteLeft   struct{ Site ID }
)

// SiteLost is an operator's word to a broker that a site will not come back: its
// legs are given up, and nothing is asked of it but what became of them. SiteFound
// takes that back: the site is used again once it has listed its legs. Each is
// answered by an OperatorReply once it is durable; the same again changes nothing.
type (
	SiteLost struct {
		Site ID
		Why  string // for those whose jobs it concerns; may be empty
	}
	SiteFound struct{ Site ID }
)

// Kind names the message.
func (SiteLost) Kind() string   { return "SiteLost" }
func (SiteFound) Kind() string  { return "SiteFound" }
func (SiteJoined) Kind() string { return "SiteJoined" }
func (SiteLeft) Kind() string   { return "SiteLeft" }
