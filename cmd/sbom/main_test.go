package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The bill of this very test names Go's library, and says of itself for which system it is and
// what its bytes add up to; twice, it is the same.
func TestSBOM_SaysWhatABinaryIsMadeOf(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var texts [2][]byte
	for i := range texts {
		file := filepath.Join(dir, "bill.json")
		if err := write(self, file, "1.2.3"); err != nil {
			t.Fatal(err)
		}
		if texts[i], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("twice it is not the same")
	}
	var d document
	if err := json.Unmarshal(texts[0], &d); err != nil {
		t.Fatal(err)
	}
	main := d.Metadata.Component
	if d.Format != "CycloneDX" || d.Spec != "1.6" || main.Version != "v1.2.3" || len(main.Hashes) != 1 || len(main.Hashes[0].Content) != 64 ||
		!strings.HasSuffix(main.Package, "@v1.2.3?goarch="+runtime.GOARCH+"&goos="+runtime.GOOS) {
		t.Errorf("%+v", d.Metadata)
	}
	std := d.Components[0]
	if want := "pkg:golang/std@" + strings.TrimPrefix(runtime.Version(), "go"); std.Package != want || std.Ref != d.Dependencies[0].On[0] || d.Dependencies[0].Ref != main.Ref {
		t.Errorf("%+v, want %s", std, want)
	}
	if err := write(filepath.Join(dir, "bill.json"), filepath.Join(dir, "x"), "1"); err == nil {
		t.Error("a file that is no binary has a bill")
	}
}
