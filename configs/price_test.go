package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// priced is a small site with lines of its own below the group.
func priced(lines string) string {
	return "until = \"2d\"\n[[site]]\nname = \"north\"\npolicy = \"easy\"\nKEYS\n[[site.group]]\nname = \"main\"\nnodes = 4\nprice = 2.0\n" + lines
}

// withKeys puts lines among the keys of the site.
func withKeys(keys, lines string) string { return strings.Replace(priced(lines), "KEYS", keys, 1) }

const night = "[[site.price]]\nfrom = \"22h\"\nto = \"30h\"\nfactor = 0.5\n"

func TestPrice_TablesAndAFileMakeTheSameCurve(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("hours.csv", "# of a day\nfrom,factor\n22h,0.5\n\n108000,1\n")
	const want = "86400000/0:500 21600000:1000 79200000:500"
	for name, text := range map[string]string{
		"tables": withKeys(`price_repeat = "1d"`, night),
		"parts":  withKeys(`price_repeat = "1d"`, strings.Replace(night, "30h", "24h", 1)+"[[site.price]]\nfrom = 0\nto = 21600\nfactor = 0.5\n"),
		"file":   withKeys("price_repeat = \"1d\"\nprice_file = \"hours.csv\"", ""),
	} {
		s, err := ReadScenario(write(name+".toml", text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := s.Sites[0].Groups[0].Curve.String(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	s, err := ParseScenario("f.toml", []byte(withKeys("", "")))
	if err != nil || s.Sites[0].Groups[0].Curve != nil {
		t.Errorf("without any of it the curve is %v, %v", s, err)
	}
	s, err = ParseScenario("f.toml", []byte(withKeys("", strings.Replace(night, "0.5", "1.0", 1))))
	if err != nil || s.Sites[0].Groups[0].Curve != nil {
		t.Errorf("of factor 1 the curve is %v, %v", s, err)
	}
}

// A process has dates, and days begin at midnight in UTC.
func TestPrice_OfAProcessMayHaveDates(t *testing.T) {
	t.Parallel()
	text := strings.Replace(smallProcess, "[workload]", "[[price]]\nfrom = 2026-11-22T22:00:00Z\nto = \"2026-11-23T07:00:00+01:00\"\nfactor = 0.5\n[workload]", 1)
	for keys, want := range map[string]string{
		"":                        "1795384800000:500 1795413600000:1000",
		"price_repeat = \"1d\"\n": "86400000/0:500 21600000:1000 79200000:500",
		"price_repeat = \"7d\"\n": "604800000/0:1000 338400000:500 367200000:1000", // from a Sunday on, 3 days and 22 h after Thursday
	} {
		s, err := ParseSiteProcess("f.toml", []byte(keys+text))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Groups[0].Curve.String(); got != want {
			t.Errorf("with %q it is %q, want %q", keys, got, want)
		}
	}
}

func TestPrice_RefusesWhatIsNoCurve(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	second := "[[site.price]]\nfrom = \"5h\"\nto = \"7h\"\nfactor = 2.0\n"
	for _, x := range []struct{ name, text, want string }{
		{"overlap", withKeys(`price_repeat = "1d"`, night+second), "f.toml:14: site.price: [18000, 25200) overlaps [79200, 108000) of line 10"},
		{"no end after its start", withKeys("", strings.Replace(night, "30h", "22h", 1)), "f.toml:10: site.price: ends at 79200, which is not after its start, 79200"},
		{"too short", withKeys("", strings.Replace(night, `"30h"`, "79210", 1)), "is shorter than 1m"},
		{"factor below 0", withKeys("", strings.Replace(night, "0.5", "-0.5", 1)), "f.toml:13: site.price.factor: -0.5 is outside 0..1000"},
		{"factor above 1000", withKeys("", strings.Replace(night, "0.5", "1000.1", 1)), "is outside 0..1000"},
		{"no factor", withKeys("", strings.Replace(night, "factor = 0.5\n", "", 1)), "site.price.factor: missing"},
		{"no end", withKeys("", strings.Replace(night, "to = \"30h\"\n", "", 1)), "site.price.to: missing"},
		{"a date in a simulation", withKeys("", strings.Replace(night, `"22h"`, "2026-11-22T22:00:00Z", 1)), "f.toml:11: site.price.from: is a date, but a simulation has no dates"},
		{"longer than a day", withKeys(`price_repeat = "1d"`, strings.Replace(night, "30h", "47h", 1)), "is longer than 1d, after which the curve repeats"},
		{"nothing to repeat", withKeys(`price_repeat = "1d"`, ""), "f.toml:5: site.price_repeat: needs [[price]] tables or a price_file"},
		{"too often", withKeys(`price_repeat = "30m"`, night), "price_repeat: 30m is too short; must be at least 1h"},
		{"too rarely", withKeys(`price_repeat = "400d"`, night), "repeats every 400d; must be 1h to 366d"},
		{"too dear", strings.Replace(withKeys("", strings.Replace(night, "0.5", "2.0", 1)), "price = 2.0", "price = 600000.0", 1), `site.price: makes a node of group "main" cost up to 1200000 credits per hour`},
		{"two ways", withKeys(`price_file = "good.csv"`, night), "f.toml:5: site.price_file: cannot be combined with [[price]] tables; leave one of them out"},
		{"time-shared", strings.Replace(withKeys("", night), `"easy"`, `"libra"`, 1), "site.price: a site that moves agreed jobs (sla-*) or shares its nodes over time"},
		{"agreements", strings.Replace(withKeys(`price_file = "good.csv"`, ""), `"easy"`, `"sla-edf"`, 1), "site.price_file: a site that moves"},
		{"no file", withKeys(`price_file = "none.csv"`, ""), "f.toml:5: site.price_file: open "},
		{"no lines", withKeys(`price_file = "none"`, ""), "none: must have lines from,factor"},
		{"one field", withKeys(`price_file = "1h"`, ""), `1h:2: "1h": must be from,factor, such as 6h,0.5`},
		{"three fields", withKeys(`price_file = "1h,2,3"`, ""), `must be from,factor`},
		{"no time", withKeys(`price_file = "noon,2"`, ""), `from: "noon": must be seconds, a duration such as 6h`},
		{"a date in a file", withKeys(`price_file = "2026-11-22T22:00:00Z,2"`, ""), "is a date, but a simulation has no dates"},
		{"no number", withKeys(`price_file = "1h,dear"`, ""), `factor "dear": must be a number from 0 to 1000`},
		{"four decimals", withKeys(`price_file = "1h,0.0005"`, ""), "factor: 0.0005 has more than three decimals"},
		{"a factor in a file", withKeys(`price_file = "1h,1001"`, ""), "1h,1001:2: factor 1001 is outside 0..1000"},
		{"not in order", withKeys(`price_file = "2h,1.5;1h,0.5"`, ""), ":3: 3600 is not after 7200 of line 2; lines must be in order of time"},
		{"hours too short", withKeys(`price_file = "0,1.5;30,0.5"`, ""), ":2: [0, 30) is shorter than 1m"},
		{"more than a day", withKeys("price_repeat = \"1d\"\nprice_file = \"0h,1.5;24h,0.5\"", ""), ":3: 86400 is 1d or more after 0, when the factors already repeat"},
	} {
		t.Run(x.name, func(t *testing.T) {
			text := x.text
			if _, rest, ok := strings.Cut(text, "price_file = \""); ok { // its name says what is in it
				name, _, _ := strings.Cut(rest, "\"")
				body := "from,factor\n" + strings.ReplaceAll(name, ";", "\n") + "\n"
				if name == "none" {
					body = ""
				}
				if name == "good.csv" {
					body = "0h,1.5\n"
				}
				if name != "none.csv" {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			_, err := ParseScenario(filepath.Join(dir, "f.toml"), []byte(text))
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v\nwant %s", err, x.want)
			}
		})
	}
	many := withKeys("", strings.Repeat(night, grid.MaxPricePieces+1))
	if _, err := ParseScenario("f.toml", []byte(many)); err == nil || !strings.Contains(err.Error(), "has 10001 tables; must have at most 10000") {
		t.Errorf("%.200v", err)
	}
}
