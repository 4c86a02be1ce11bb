package torture

import (
	"fmt"
	"maps"
	"slices"
)

// judgedFrom is of how many seeds, under all faults, a Report says which rows were taken
// too rarely.
const judgedFrom = 1000

// beyond are the rows of docs/TRANSACTION.md that nothing in these worlds leads to, and why.
// Each has its story in sites or broker.
var beyond = map[string]string{
	"S71": "nobody speaks but as who it is, and says nothing without sense", "S72": "nobody speaks but as who it is, and says nothing without sense",
	"S96": "an account has room for 2.3 x 10^12 credits, of which nobody here turns over a millionth; S96-an-account-without-room",
	"S75": "operators take their brokers' word for refunds, and no site loses its key", "S104": "operators take their brokers' word for refunds, and no site loses its key",
	"S85":  "it is about local jobs alone",
	"S93":  "no time-shared nodes serve by EDF",
	"S95":  "nothing panics",
	"B146": "no job of these worlds is an array", "B147": "no job of these worlds is an array", "B148": "no job of these worlds is an array", "B149": "no job of these worlds is an array",
	"B66": "no site ever has 65 legs of a broker whose ends are to come; B66-asserts-one-by-one",
}

// stated is how often each of the other rows must be taken in a thousand seeds: about a
// fifth of how often it was. 0 means that it was too rare and is only counted, as is a row
// that is not here.
var stated = map[string]int{
	// Of worlds with time-shared nodes alone, of those whose clusters have journals, of those where
	// sites lie, and of narrow ones: a tenth of what three of these had.
	"S90": 300, "S91": 0, "S92": 6, "B86": 0, "S123": 10, "B99": 6,
	// Of worlds where users have terms alone.
	"B140": 2500, "B141": 500,
	// Of worlds where all sites fall silent alone.
	"B109": 100, "B113": 120, "B117": 25,
	"S10": 50, "S57": 100, "S73": 600, "S74": 0, "B125": 80,
	// Of worlds in which owners are asked to shift legs alone.
	"S87": 120, "S88": 20, "S89": 1000, "B74": 70, "B75": 30, "B76": 18, "B77": 70,
	"S70": 20, "S1": 200, "S2": 20000, "S3": 80, "S4": 100, "S5": 50000, "S6": 400, "S11": 600, "S12": 1000, "S13": 80000, "S14": 100,
	"S15": 60000, "S16": 30000, "S17": 0, "S18": 4000, "S19": 200, "S20": 30000, "S21": 9000, "S22": 20000, "S23": 100, "S24": 10,
	"S25": 100, "S30": 30000, "S31": 200, "S32": 7000, "S33": 40, "S34": 3000, "S35": 20, "S36": 30, "S37": 100, "S40": 20000,
	"S41": 3000, "S42": 2000, "S43": 120, "S44": 0, "S45": 100, "S46": 20000, "S47": 20000, "S48": 200, "S50": 300, "S51": 10,
	"S52": 500, "S53": 50, "S54": 10000, "S55": 10000, "S56": 20000, "S58": 20000, "S59": 800, "S60": 6000, "S61": 3, "S62": 400,
	"S63": 60, "S64": 500, "S65": 60, "S66": 90, "S67": 100, "S68": 0, "S80": 1000, "S81": 1000, "S82": 800, "S83": 1000,
	"S84": 2000, "S86": 20, "S94": 2000, "S100": 700, "S101": 0, "S102": 900, "S103": 100, "S105": 6, "S106": 3, "S110": 10,
	"S124": 0, "S125": 0, "S115": 100, "S116": 6000, "S117": 1000, "S118": 1000, "S120": 200, "S121": 0, "S122": 1000, "B1": 50000, "B2": 8000, "B3": 9000,
	"B4": 10000, "B5": 0, "B6": 30000, "B7": 1000, "B8": 20, "B10": 20000, "B11": 10000, "B12": 6, "B13": 20, "B20": 30000,
	"B21": 7000, "B22": 30, "B23": 2000, "B24": 20000, "B25": 20000, "B26": 3000, "B27": 300, "B28": 180, "B30": 20000, "B31": 20000,
	"B32": 4000, "B33": 3, "B40": 500, "B41": 3000, "B42": 0, "B43": 0, "B44": 80, "B50": 3000, "B51": 0, "B52": 200,
	"B53": 100, "B54": 30, "B55": 300, "B56": 0, "B57": 16, "B58": 100, "B60": 3000, "B61": 2000, "B62": 2000, "B63": 1000, "B64": 1000, "B65": 0, "B67": 3000,
	"B70": 1000, "B71": 1000, "B72": 1000, "B73": 10, "B80": 1000, "B81": 0, "B82": 30, "B83": 40, "B84": 90, "B85": 1000,
	"B90": 20, "B91": 30, "B95": 100000, "B96": 500, "B97": 1000, "B98": 400, "B100": 0, "B101": 0, "B102": 0, "B105": 300,
	"B106": 200, "B107": 800, "B108": 1000, "B110": 100, "B111": 10, "B112": 10000, "B114": 800, "B115": 0, "B116": 1, "B126": 10000,
	"B127": 300, "B128": 100, "B129": 1000, "B130": 0, "B142": 0, "B143": 0, "B144": 0, "B145": 100,
}

// Listed are the rows that these worlds can take, in order: those of which it is stated how
// often, and any other that was taken.
func (r *Report) Listed() []string {
	list := slices.AppendSeq(slices.Collect(maps.Keys(stated)), maps.Keys(r.Rows))
	slices.SortFunc(list, func(a, b string) int { return rowNumber(a) - rowNumber(b) })
	return slices.Compact(list)
}

// rowNumber orders the rows of sites before those of brokers.
func rowNumber(row string) (n int) {
	_, _ = fmt.Sscan(row[1:], &n)
	if row[0] == 'B' {
		n += 1000
	}
	return n
}

// Stated is how often a row must be taken in a thousand seeds.
func Stated(row string) int { return stated[row] }

// Coverage is how many of the rows that are listed the runs have taken.
func (r *Report) Coverage() (taken int) {
	for _, n := range r.Rows {
		if n > 0 {
			taken++
		}
	}
	return taken
}

// Rare lists, in order, the rows that were taken too rarely. A count of faults does not
// show that some of them strike where nothing is at stake. It says nothing for fewer than a
// thousand seeds, or for seeds with only some of the faults.
func (r *Report) Rare() (list []string) {
	if r.Seeds < judgedFrom || r.flags != "" {
		return nil
	}
	for _, row := range r.Listed() {
		if r.Rows[row] < stated[row]*r.Seeds/judgedFrom {
			list = append(list, row)
		}
	}
	return list
}

// Beyond is how many rows nothing in these worlds leads to.
func Beyond() int { return len(beyond) }
