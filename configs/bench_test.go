package configs

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkParseBatch_10000Jobs(b *testing.B) {
	var text strings.Builder
	for i := range 10_000 {
		text.WriteString(strings.Replace(wave, `"wave"`, fmt.Sprintf(`"wave%d"`, i), 1))
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := ParseBatch("f.toml", []byte(text.String())); err != nil {
			b.Fatal(err)
		}
	}
}
