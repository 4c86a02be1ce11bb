// Package kinds says what a file is: by its tables, if it is TOML, otherwise by how it begins.
// It reads files of bounded size, and refuses one of another kind than is wanted with the
// command that takes it.
package kinds
