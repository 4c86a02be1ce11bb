// Package keys is the machinery of strict files: what reads a TOML text by lists of keys, and
// reports all that is wrong with it at once, each with file, line, key, problem and remedy. It
// knows no file and no key; which there are is said by the lists of package configs.
//
// A list has one line for each key of a table: its name, where the value goes, which values are
// allowed, what it means. Reading, hints at known keys and the pages that describe them all use
// that list. A rule about several keys is a function in the list.
package keys
