package process

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

func TestLog_ShowsAConsoleNoCommandsOfPeers(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	log := zerolog.New(zerolog.ConsoleWriter{Out: &b, NoColor: true, FormatPrepare: VisibleMessage})
	log.Warn().Str("peer", "x\x1b[2J").Msg("refused: by a\x1b[2Jb\u009b")
	if strings.ContainsAny(b.String(), "\x1b\u009b") || !strings.Contains(b.String(), `a\u001b[2Jb\u009b`) {
		t.Errorf("%q", b.String())
	}
}
