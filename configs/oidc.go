package configs

import "github.com/bourse-grid/bourse/configs/keys"

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
func (o *OIDC) keys(p *Process) keys.List {
	return keys.List{
		keys.Text("issuer", &o.Issuer, "", "address of the OpenID issuer, as in its tokens: https, or http on this machine").Must(`"https://login.example.org/realms/vo1"`),
		keys.Text("audience", &o.Audience, "", "audience that tokens must have").Must(`"bourse-vo1"`),
		keys.Text("user_claim", &o.UserClaim, "sub", "claim with the user's name; users must not be able to change it. \"email\": only addresses that the issuer says were verified"),
		keys.Text("groups_claim", &o.GroupsClaim, "groups", "claim with the list of the user's groups"),
		keys.Text("user_group", &o.UserGroup, "", "only members of this group may use the API").ByDefault("everyone with a token may"),
		keys.Text("operator_group", &o.OperatorGroup, "", "members of this group are operators").ByDefault("tokens make no operators"),
		keys.Text("prefix", &o.Prefix, "oidc:", "prefix for the names of users with tokens, which keeps them apart from users with certificates; \"\": the same name is the same user"),
		keys.Rule(func(t *keys.Table) {
			switch {
			case p.TLS.Plain:
				t.Wrong("issuer", "with plain = true every program on this machine is an operator anyway; leave one of them out")
			case p.HTTP == "" && t.Clean("issuer"):
				t.Wrong("issuer", "needs [http]; leave the table out")
			}
		}),
	}
}
