package configs

import "github.com/bourse-grid/bourse/configs/keys"

// What the values and the errors of this package are made of.
type (
	// Thousandths is a share or a factor in thousandths: 1000 means 1.
	Thousandths = keys.Thousandths
	// Range is an inclusive range, Lo <= Hi.
	Range[T any] = keys.Range[T]
	// Problem is one problem of a file.
	Problem = keys.Problem
	// Problems lists the problems of a file in the order of its lines: at least one, at most 20.
	Problems = keys.Problems
)

// One is the factor 1.
const One = keys.One
