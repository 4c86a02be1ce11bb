package evidence

import (
	"encoding/csv"
	"io"
	"strconv"
)

// ValuesHeader are the columns of WriteValues.
var ValuesHeader = []string{"row", "over", "unit", "value", "numerator", "denominator"}

// ResampleUnit is the entry under "over" if a value is the row's figure with a redrawn
// workload.
const ResampleUnit = "resample"

// WriteValues writes as CSV the values from which the rows were computed. For each row, by
// its number from 1, there is a line for each unit of its interval, and one for each resample
// of the workload. The mean of a row's values is its figure, and Student's t over them gives
// its interval. For a ratio of means the value is the linear approximation, with numerator
// and denominator beside it.
func WriteValues(w io.Writer, rows []Row) error {
	c := csv.NewWriter(w)
	_ = c.Write(ValuesHeader) // Error tells
	for i := range rows {
		r := &rows[i]
		number := strconv.Itoa(i + 1)
		for k, v := range r.sample.Values {
			of, per := "", ""
			if len(r.sample.of) > 0 {
				of, per = exactly(r.sample.of[k]), exactly(r.sample.per[k])
			}
			_ = c.Write([]string{number, r.Over, strconv.Itoa(k + 1), exactly(v), of, per})
		}
		for k, v := range r.resampled {
			_ = c.Write([]string{number, ResampleUnit, strconv.Itoa(k + 1), strconv.FormatFloat(v, 'g', 9, 64), "", ""})
		}
	}
	c.Flush()
	return c.Error()
}

// RowsHeader are the columns of WriteRows.
var RowsHeader = []string{"measure", "setting", "paper", "here", "ci95", "runs", "verdict", "over", "ci95Workload", "blocks"}

// WriteRows writes the rows as CSV.
func WriteRows(w io.Writer, rows []Row) error {
	c := csv.NewWriter(w)
	_ = c.Write(RowsHeader) // Error tells
	for i := range rows {
		r := &rows[i]
		workload, blocks := "", ""
		if r.Blocks > 0 {
			workload, blocks = exactly(r.Workload), strconv.Itoa(r.Blocks)
		}
		_ = c.Write([]string{r.Measure, r.Setting, r.Paper.String(), exactly(r.Here), exactly(r.CI95), strconv.Itoa(r.Runs), r.Verdict, r.Over, workload, blocks})
	}
	c.Flush()
	return c.Error()
}

// exactly returns a number with all of its digits.
func exactly(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
