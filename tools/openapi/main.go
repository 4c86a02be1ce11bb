// Command openapi holds OpenAPI documents against a validator, and makes a client of
// each, as others would:
//
//	openapi DIR NAME...
//
// reads DIR/NAME.json and writes DIR/NAME/client.go. It is a module of its own, so that what
// it needs is no dependency of bourse.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oapi-codegen/oapi-codegen/v2/pkg/codegen"

	_ "github.com/oapi-codegen/runtime" // what is generated imports it
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: openapi DIR NAME...")
		os.Exit(2)
	}
	for _, name := range os.Args[2:] {
		if err := hold(os.Args[1], name); err != nil {
			fmt.Fprintf(os.Stderr, "openapi: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

// hold validates one document and generates its client.
func hold(dir, name string) error {
	doc, err := openapi3.NewLoader().LoadFromFile(filepath.Join(dir, name+".json"))
	if err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		return fmt.Errorf("it is not valid: %w", err)
	}
	text, err := codegen.Generate(doc, codegen.Configuration{PackageName: name, Generate: codegen.GenerateOptions{Models: true, Client: true}})
	if err != nil {
		return fmt.Errorf("no client can be made of it: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name, "client.go"), []byte(text), 0o644)
}
