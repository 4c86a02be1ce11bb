package agents

// SiteJoined and SiteLeft tell a broker which sites there are, while it runs.
// They are hints of a discovery service: a site that has left is asked for
// nothing new, but what is owed to it and by it stands.
type (
	SiteJoined struct{ Site ID }
	SiteLeft   struct{ Site ID }
)

// Kind names the message.
func (SiteJoined) Kind() string { return "SiteJoined" }
func (SiteLeft) Kind() string   { return "SiteLeft" }
