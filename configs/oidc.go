package configs

// OIDC says whose tokens the API accepts besides certificates, and how to read a caller's
// rights from them.
type OIDC struct {
	Issuer        string
	Audience      string
	UserClaim     string // default "sub"
	GroupsClaim   string // default "groups"
	UserGroup     string // only its members may use the API; "": everyone with a token
	OperatorGroup string // its members are operators; "": tokens make no operators
	Prefix        string // of the names of users with tokens; default "oidc:"
}

// keys lists the keys of [oidc].
func (o *OIDC) keys(p *Process) keys {
	return keys{
		text("issuer", &o.Issuer, "", "address of the OpenID issuer, as in its tokens: https, or http on this machine").must(`"https://login.example.org/realms/vo1"`),
		text("audience", &o.Audience, "", "audience that tokens must have").must(`"bourse-vo1"`),
		text("user_claim", &o.UserClaim, "sub", "claim with the user's name; users must not be able to change it. \"email\": only addresses that the issuer says were verified"),
		text("groups_claim", &o.GroupsClaim, "groups", "claim with the list of the user's groups"),
		text("user_group", &o.UserGroup, "", "only members of this group may use the API").byDefault("everyone with a token may"),
		text("operator_group", &o.OperatorGroup, "", "members of this group are operators").byDefault("tokens make no operators"),
		text("prefix", &o.Prefix, "oidc:", "prefix for the names of users with tokens, which keeps them apart from users with certificates; \"\": the same name is the same user"),
		rule(func(t *table) {
			switch {
			case p.TLS.Plain:
				t.wrong("issuer", "with plain = true every program on this machine is an operator anyway; leave one of them out")
			case p.HTTP == "" && t.clean("issuer"):
				t.wrong("issuer", "needs [http]; leave the table out")
			}
		}),
	}
}
