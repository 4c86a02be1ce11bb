package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/web/client"
)

// newLogin builds "bourse login".
func newLogin() *cobra.Command {
	var at, scopes string
	var i client.Issuer
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Get a token of the VO's issuer, by logging in with a browser",
		Long: `Login has you log in at the OpenID issuer whose tokens the broker takes ([oidc] in its
file): it prints an address and a code, waits until you have said that code there, on this
or another machine, and writes the token to the token_file of the context. The commands show
it from then on; when it is over, log in again. The issuer and the client are kept in
token_file.login, so the next time there is nothing to give, and where the issuer allows it
nothing to say either.`,
		Example: "  bourse login --issuer https://login.example.org/realms/vo1 --client bourse-vo1\n  bourse login",
		Args:    arguments(0, 0, "no arguments"),
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
				return errors.New("nobody has logged in here yet: give --issuer and --client")
			}
			token, err := by.Renew(cmd.Context())
			if err != nil { // as ever the first time
				token, err = by.Login(cmd.Context(), func(at, code string) {
					fmt.Fprintf(cmd.ErrOrStderr(), "Open %s and enter the code %s\n", visible(at), visible(code))
				})
			}
			if err != nil {
				return failed(err)
			}
			name, err := c.SaveToken(token, by)
			if err != nil {
				return failed(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "The token is in %s.\n", name)
			return nil
		},
	}
	addFlag(cmd, &at, asContext, "context", "", "context file of the federation (default $"+client.Variable+", then "+client.Default+")")
	addFlag(cmd, &i.URL, asText, "issuer", "", "address of the issuer, as the broker's [oidc] has it (default that of the last log-in)")
	addFlag(cmd, &i.ClientID, asText, "client", "", "the client that this program is there: the audience of the broker's [oidc] (default that of the last log-in)")
	addFlag(cmd, &scopes, asText, "scope", "profile", "what the token is to say beside who you are, such as \"profile groups\"")
	return cmd
}

// chosen is the issuer that was kept, but for what is given now. What it has given to
// renew a token with is good for the same one alone.
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
