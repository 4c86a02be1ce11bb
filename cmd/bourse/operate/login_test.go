package operate

import (
	"testing"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/web/client"
)

// Whoever can open the whole address has no code to type, but compares it; an issuer without
// such an address, or with the same one twice, is not shown one. Nothing of it moves the cursor.
func TestLogin_ShowsTheWholeAddressBesideTheCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    client.Prompt
		want string
	}{
		{client.Prompt{At: "https://l.example/d", Code: "WDJB-MJHT", Whole: "https://l.example/d?c=WDJB-MJHT"},
			"Open https://l.example/d and enter the code WDJB-MJHT,\nor open https://l.example/d?c=WDJB-MJHT and check that it shows this code\n"},
		{client.Prompt{At: "https://l.example/d", Code: "W"}, "Open https://l.example/d and enter the code W\n"},
		{client.Prompt{At: "https://l.example/d", Code: "W", Whole: "https://l.example/d"}, "Open https://l.example/d and enter the code W\n"},
		{client.Prompt{At: "https://l.example/d", Code: "W", Whole: "https://l.example/\x1b[2J"},
			"Open https://l.example/d and enter the code W,\nor open " + flags.Visible("https://l.example/\x1b[2J") + " and check that it shows this code\n"},
	} {
		if got := prompt(c.p); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
