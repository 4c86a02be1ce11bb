// Command sbom writes what a binary of bourse is made of, as a bill of materials that
// scanners read (CycloneDX 1.6, JSON):
//
//	go run ./cmd/sbom BINARY FILE VERSION
//
// The modules are those that the linker has put in, with the sums by which Go has checked
// them, as the binary itself says. The same binary gives the same bytes. Licences are in
// THIRD_PARTY_LICENSES of a release.
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY FILE VERSION")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// document is a bill of materials. Its keys are those of CycloneDX.
type document struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Package    string     `json:"purl"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// write reads a binary and writes its bill.
func write(binary, file, version string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetIndent("", " ")
	out.SetEscapeHTML(false) // a package's address has an ampersand
	if err := out.Encode(bill(info, hex.EncodeToString(sum[:]), version)); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// bill lists the modules in the order of their names, and Go's own library first.
func bill(info *debug.BuildInfo, sum, version string) document {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	main := library(info.Main.Path, "v"+strings.TrimPrefix(version, "v"), "")
	main.Type, main.Hashes = "application", []hash{{"SHA-256", sum}}
	main.Package += "?goarch=" + settings["GOARCH"] + "&goos=" + settings["GOOS"]
	d := document{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{main}}
	goVersion, _, _ := strings.Cut(strings.TrimPrefix(info.GoVersion, "go"), " ")
	d.Components = append(d.Components, library("std", goVersion, ""))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		d.Components = append(d.Components, library(m.Path, m.Version, m.Sum))
	}
	on := dependency{Ref: main.Ref, On: []string{}}
	for i := range d.Components {
		on.On = append(on.On, d.Components[i].Ref)
	}
	d.Dependencies = []dependency{on}
	return d
}

// library is a module at a version; sum is as in go.sum, "" for none.
func library(path, version, sum string) component {
	c := component{Type: "library", Name: path, Version: version, Package: "pkg:golang/" + path + "@" + version}
	c.Ref = c.Package
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}
