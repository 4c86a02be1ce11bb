package configs

// OIDC says whose tokens the API takes beside certificates, and what they say of a caller.
type OIDC struct {
	Issuer        string
	Audience      string
	UserClaim     string // default "sub"
	GroupsClaim   string // default "groups"
	UserGroup     string // only its members are let in; "": all
	OperatorGroup string // its members are operators; "": nobody is by a token
	Prefix        string // of the names of users by token; default "oidc:"
}

// keys lists what [oidc] may hold.
func (o *OIDC) keys(p *Process) keys {
	return keys{
		text("issuer", &o.Issuer, "", "address of the OpenID issuer, as its tokens have it: https, or http on this machine").must(`"https://login.example.org/realms/vo1"`),
		text("audience", &o.Audience, "", "that tokens must be for").must(`"bourse-vo1"`),
		text("user_claim", &o.UserClaim, "sub", "claim that is the user's name; one that users cannot change"),
		text("groups_claim", &o.GroupsClaim, "groups", "claim that lists the user's groups"),
		text("user_group", &o.UserGroup, "", "only members of this group are let in").byDefault("everyone with a token"),
		text("operator_group", &o.OperatorGroup, "", "members of this group are operators").byDefault("nobody is by a token"),
		text("prefix", &o.Prefix, "oidc:", "before the names of users by token, so that they are no other users by certificate; \"\": the same name is the same user"),
		rule(func(t *table) {
			switch {
			case p.TLS.Plain:
				t.wrong("issuer", "with plain = true every program of this machine is an operator; leave one of them out")
			case p.HTTP == "" && t.clean("issuer"):
				t.wrong("issuer", "has a meaning only with [http]; leave the table out")
			}
		}),
	}
}
