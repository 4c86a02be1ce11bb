package main

import (
	"fmt"
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
it from then on; when it is over, log in again.`,
		Example: "  bourse login --issuer https://login.example.org/realms/vo1 --client bourse-vo1",
		Args:    arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := client.Find(at)
			if err != nil {
				return err
			}
			if c.TokenFile == "" {
				_, err := c.SaveToken("")
				return err
			}
			i.Scopes = strings.Fields(scopes)
			token, err := i.Login(cmd.Context(), func(at, code string) {
				fmt.Fprintf(cmd.ErrOrStderr(), "Open %s and enter the code %s\n", visible(at), visible(code))
			})
			if err != nil {
				return failed(err)
			}
			name, err := c.SaveToken(token)
			if err != nil {
				return failed(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "The token is in %s.\n", name)
			return nil
		},
	}
	addFlag(cmd, &at, asContext, "context", "", "context file of the federation (default $"+client.Variable+", then "+client.Default+")")
	addFlag(cmd, &i.URL, asText, "issuer", "", "address of the issuer, as the broker's [oidc] has it")
	addFlag(cmd, &i.ClientID, asText, "client", "", "the client that this program is there: the audience of the broker's [oidc]")
	addFlag(cmd, &scopes, asText, "scope", "profile", "what the token is to say beside who you are, such as \"profile groups\"")
	for _, name := range []string{"issuer", "client"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return cmd
}
