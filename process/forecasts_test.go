package process

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"
)

// What is kept is there for the next life; what is damaged, of another version, or too large is set
// aside, and said.
func TestLearned_IsKeptAndWhatIsDamagedIsSetAside(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	l := &learned{p: &process{log: zerolog.New(&said)}, file: filepath.Join(t.TempDir(), forecastState)}
	if got := l.Last(); got != nil || said.Len() > 0 {
		t.Fatalf("nothing was kept, and it is %q: %s", got, said.String())
	}
	for _, text := range []string{`{"a":1}`, `{"a":22}`} {
		if err := l.replace([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := l.Last(); string(got) != text {
			t.Errorf("it is %q, must be %q", got, text)
		}
	}
	good, err := os.ReadFile(l.file)
	if err != nil {
		t.Fatal(err)
	}
	for what, bad := range map[string][]byte{
		"half of it":      good[:len(good)-3],
		"another byte":    bytes.Replace(good, []byte("22"), []byte("23"), 1),
		"another version": bytes.Replace(good, []byte("forecasts 2"), []byte("forecasts 1"), 1),
		"empty":           {},
	} {
		said.Reset()
		if err := os.WriteFile(l.file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := l.Last(); got != nil || !bytes.Contains(said.Bytes(), []byte("set aside")) {
			t.Errorf("%s: it is %q, and said is %q", what, got, said.String())
		}
		aside, err := os.ReadFile(l.file + ".aside")
		if _, there := os.Stat(l.file); err != nil || !bytes.Equal(aside, bad) || !os.IsNotExist(there) {
			t.Errorf("%s: aside is %q, %v", what, aside, err)
		}
	}
}

// The last of what comes while another is written is there in the end, and a folder that is gone
// stops nobody.
func TestLearned_TheLastIsWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		dir := t.TempDir()
		l := &learned{p: &process{log: zerolog.New(&said)}, file: filepath.Join(dir, forecastState)}
		for i := range 50 {
			l.Keep(func() []byte { return []byte{byte(i)} })
		}
		synctest.Wait()
		if got := l.Last(); !bytes.Equal(got, []byte{49}) || said.Len() > 0 {
			t.Errorf("it is %v: %s", got, said.String())
		}
		l.file = filepath.Join(dir, "none", forecastState)
		l.Keep(func() []byte { return []byte{1} })
		synctest.Wait()
		l.Keep(func() []byte { return make([]byte, mostForecasts) }) // more than is read again
		synctest.Wait()
		if n := bytes.Count(said.Bytes(), []byte("cannot be kept")); n != 1 {
			t.Errorf("said %d times: %s", n, said.String())
		}
	})
}
