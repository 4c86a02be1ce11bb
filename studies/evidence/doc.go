// Package evidence is what a study shows: rows of figures beside what a paper says, samples
// with their 95 % intervals, verdicts, and workloads drawn again by blocks. It writes rows as
// CSV and as a page. It knows no study.
package evidence
