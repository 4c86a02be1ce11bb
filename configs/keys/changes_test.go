package keys

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bourse-grid/bourse/grid"
)

// Differences are named as people name them: a group by its name, an account by its place.
func TestDifferences_NameTheKeyAndBothValues(t *testing.T) {
	t.Parallel()
	was := "vo_share = 0.5\nhold = \"30s\"\n[limits]\nmax_share = 1.0\n[[group]]\nname = \"main\"\nnodes = 4\nprice = 1.0\n" +
		"[[group]]\nname = \"old\"\nnodes = 2\n[[account]]\nuser = \"ana\"\nas = \"ana\"\n"
	is := "vo_share = 0.5\nhold = \"40s\"\n[limits]\nmax_share = 1.0\nusers = [\"ana\"]\n[[group]]\nname = \"main\"\nnodes = 6\nprice = 1.5\n" +
		"[[account]]\nuser = \"ana\"\nas = \"guest\"\n[log]\nlevel = \"debug\"\n"
	got, err := Differences([]byte(was), []byte(is), []string{"group", "limits", "account", "vo_share"})
	want := []grid.Setting{
		{Key: "account 1: as", Was: "ana", Is: "guest"},
		{Key: "group main: nodes", Was: "4", Is: "6"},
		{Key: "group main: price", Was: "1", Is: "1.5"},
		{Key: "group old: name", Was: "old"},
		{Key: "group old: nodes", Was: "2"},
		{Key: "limits: users", Is: `["ana"]`},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %q\nwant %q", err, got, want)
	}
}

// However long a value is, it fits into a fact, and stays text.
func TestDifferences_AreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1000)
	got, err := Differences([]byte("pricing = \"a\""), []byte("pricing = \""+long+"\""), []string{"pricing"})
	if err != nil || len(got) != 1 || len(got[0].Is) > grid.MaxSetting || !utf8.ValidString(got[0].Is) {
		t.Errorf("%v: %q", err, got)
	}
	if _, err := Differences([]byte("a ="), nil, nil); err == nil {
		t.Error("what is no TOML is compared")
	}
}
