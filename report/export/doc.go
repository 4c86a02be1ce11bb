// Package export writes what ran when and where as files of other programs: the columns of evalys,
// and the trace that Perfetto opens. It takes facts one by one, of a run's folder or of journals.
package export
