package operate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/web/client"
)

// newLogin builds "bourse login".
func newLogin() *cobra.Command {
	var at, scopes string
	var i client.Issuer
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Log in with a browser and get a token from the VO's issuer",
		Long: `Login logs you in at the OpenID issuer whose tokens the broker accepts ([oidc] in
its file). It prints an address and a code, and if the issuer has one the address
with the code in it, waits until you have entered the code there, on this or another
machine, and writes the token to the token_file of the context. The other commands then use the token; when it expires, log in again.
Login keeps the issuer and the client in token_file.login, so next time no flags are
needed and, if the issuer allows it, no code either.`,
		Example: "  bourse login --issuer https://login.example.org/realms/vo1 --client bourse-vo1\n  bourse login",
		Args:    flags.Arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := client.Find(at)
			if err != nil {
				return err
			}
			if c.TokenFile == "" {
				_, err := c.SaveToken("", client.Issuer{})
				return err
			}
			kept, err := c.Issuer()
			if err != nil {
				return err
			}
			by := chosen(kept, i, strings.Fields(scopes), cmd.Flags().Changed("scope"))
			if by.URL == "" || by.ClientID == "" {
				return errors.New("this is the first login here: give --issuer and --client")
			}
			token, err := by.Renew(cmd.Context())
			if err != nil { // always the first time
				token, err = by.Login(cmd.Context(), func(p client.Prompt) {
					fmt.Fprint(cmd.ErrOrStderr(), prompt(p))
				})
			}
			if err != nil {
				return failure.Of(err)
			}
			name, err := c.SaveToken(token, by)
			if err != nil {
				return failure.Of(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "The token is in %s.\n", name)
			return nil
		},
	}
	flags.AddFlag(cmd, &at, flags.AsContext, "context", "", "context file of the federation (default $"+client.Variable+", then "+client.Default+")")
	flags.AddFlag(cmd, &i.URL, flags.AsText, "issuer", "", "address of the issuer, as in the broker's [oidc] (default: of the last login)")
	flags.AddFlag(cmd, &i.ClientID, flags.AsText, "client", "", "client ID of this program there: the audience in the broker's [oidc] (default: of the last login)")
	flags.AddFlag(cmd, &scopes, flags.AsText, "scope", "profile", "what the token must contain besides your identity, such as \"profile groups\"")
	return cmd
}

// prompt says what to do in a browser. Whoever opens the address with the code in it compares the
// code all the same (RFC 8628, section 3.3.1).
func prompt(p client.Prompt) string {
	s := fmt.Sprintf("Open %s and enter the code %s", flags.Visible(p.At), flags.Visible(p.Code))
	if p.Whole != "" && p.Whole != p.At {
		s += fmt.Sprintf(",\nor open %s and check that it shows this code", flags.Visible(p.Whole))
	}
	return s + "\n"
}

// chosen is the kept issuer, overridden by what is given now. The kept refresh token is
// good only for the same issuer, client and scopes.
func chosen(kept, given client.Issuer, scopes []string, scoped bool) client.Issuer {
	by := kept
	if given.URL != "" {
		by.URL = given.URL
	}
	if given.ClientID != "" {
		by.ClientID = given.ClientID
	}
	if scoped || kept.URL == "" {
		by.Scopes = scopes
	}
	if by.URL != kept.URL || by.ClientID != kept.ClientID || !slices.Equal(by.Scopes, kept.Scopes) {
		by.Refresh = ""
	}
	return by
}
