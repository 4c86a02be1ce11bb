// Package lines bounds how often a log says the same: one line a minute of each kind, and ten of
// each sort, whatever strangers do.
package lines
