package grid

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

func TestCheckText_SaysWhichCharacterAndWhere(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"wave":                            "",
		"größe 64 GiB µ 日本":               "",
		"\uFFFD":                          "",
		"av\x1b[2Jx":                      `"av\x1b[2Jx": character 3 is U+001B, which cannot be seen`,
		"a\u009b2J":                       "character 2 is U+009B",
		"tide\u202ekcab":                  "character 5 is U+202E",
		"größe\n":                         "character 6 is U+000A",
		"a\xff":                           "character 2 is no UTF-8",
		strings.Repeat("é", 300) + "\x07": "character 301 is U+0007",
	} {
		err := CheckText(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil && (len(err.Error()) > 400 || strings.ContainsFunc(err.Error(), func(c rune) bool { return !unicode.IsPrint(c) })) {
			t.Errorf("%q: the message itself does not suit a terminal: %q", text, err)
		}
	}
}

func TestAppendVisible_LeavesNothingThatATerminalTakesForACommand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain\ttext, größe\n": "plain\ttext, größe\n",
		"\x1b]0;owned\x07\r":   `\u001b]0;owned\u0007\u000d`,
		"a\u009bb\u202ec":      `a\u009bb\u202ec`,
		"\xc2":                 `\xc2`,
		"\U000e0001":           `\udb40\udc01`,
	} {
		if got := string(AppendVisible(nil, []byte(text))); got != want {
			t.Errorf("%q is shown as %s, want %s", text, got, want)
		}
	}
	line, err := json.Marshal("a\u009b2J\u202e\x1b\U000e0001")
	if err != nil {
		t.Fatal(err)
	}
	var back string
	if err := json.Unmarshal(AppendVisible(nil, line), &back); err != nil || back != "a\u009b2J\u202e\x1b\U000e0001" {
		t.Errorf("JSON reads back as %q, %v", back, err)
	}
}
