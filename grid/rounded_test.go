package grid

import "testing"

func TestRounded_WordsForPeopleHaveTheFiguresThatMeanSomething(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"at most 100.00005 credits":                     "at most 100.00 credits",
		"1 credits (1.33334 base; worth 0.228699)":      "1 credits (1.33 base; worth 0.23)",
		"0.001667 credits":                              "0.0017 credits",
		"11.333 credits (10.667 base, 0.666 for delay)": "11.33 credits (10.67 base, 0.67 for delay)",
		"from 7270.076 on":                              "from 7270.076 on",
		"12.5 credits":                                  "12.5 credits",
		"start lies 10076s after now":                   "start lies 2.8 h after now",
		"within 600 s, and 100s":                        "within 10 min, and 100s",
		"its window of 259200s":                         "its window of 3 d",
		"waits until 7270.076 of wave-3600s":            "waits until 7270.076 of wave-3600s",
	} {
		if got := Rounded(words); got != want {
			t.Errorf("%q is shown as %q, must be %q", words, got, want)
		}
	}
}
