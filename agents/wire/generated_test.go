package wire

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// versions are those of protoc and its plugin, which may be others here.
var versions = regexp.MustCompile(`(?m)^// versions:\n(//.*\n)*?(// source)`)

func TestGenerated_FollowsFromTheProtoFiles(t *testing.T) {
	t.Parallel()
	protoc, err := exec.LookPath("protoc")
	if err != nil {
		t.Skip("protoc is not installed")
	}
	out := t.TempDir()
	plugin := filepath.Join(out, "protoc-gen-go")
	// Go keeps what it has built to run: it is linked for the first test only.
	if err := os.WriteFile(plugin, []byte("#!/bin/sh\nexec go run google.golang.org/protobuf/cmd/protoc-gen-go\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(protoc, "--plugin="+plugin, "--go_out="+out, "--go_opt=paths=source_relative", "wire.proto", "link.proto").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, name := range []string{"wire.pb.go", "link.pb.go"} {
		have, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(versions.ReplaceAll(have, []byte("$2"))) != string(versions.ReplaceAll(want, []byte("$2"))) {
			t.Errorf("%s is not what protoc makes of the .proto files; run go generate ./agents/wire", name)
		}
	}
}
