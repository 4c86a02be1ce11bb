// Package studies holds experiments: those of the papers that Bourse follows, and some of its
// own. Each gives rows of evidence (studies/evidence). Studies that share nothing with the others
// are packages below this one, with Options, Run and, if the rows can be summed up in words, a
// Finding.
package studies
