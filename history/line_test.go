package history

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Every fact has a line, and one with a leg or a transaction is found by it.
func TestLine_EveryFactIsToldAndFoundByItsLeg(t *testing.T) {
	t.Parallel()
	leg := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Seq: 4}, Leg: 2}
	found := 0
	for _, f := range facts.Facts() {
		v := reflect.New(reflect.TypeOf(f)).Elem()
		tx, one := "", ""
		if field := v.FieldByName("Leg"); field.IsValid() && field.Type() == reflect.TypeFor[grid.LegID]() {
			field.Set(reflect.ValueOf(leg))
			tx, one = leg.Tx.String(), leg.String()
		} else if field := v.FieldByName("Tx"); field.IsValid() && field.Type() == reflect.TypeFor[grid.TxID]() {
			field.Set(reflect.ValueOf(leg.Tx))
			tx = leg.Tx.String()
		}
		full, ok := v.Interface().(interface{ Kind() string })
		if !ok {
			t.Fatalf("%T is no fact", f)
		}
		if gotTx, gotLeg := About(full); tx != "" && (gotTx != tx || gotLeg != one) {
			t.Errorf("%s is about %q, %q, and not about %q, %q", f.Kind(), gotTx, gotLeg, tx, one)
		} else if tx != "" {
			found++
		}
		if line := string(Line(full)); line == "" && f.Kind() != "site-lost" || strings.Contains(line, "\n") {
			t.Errorf("%s: %q", f.Kind(), line)
		}
	}
	if found < 10 {
		t.Errorf("%d facts are about a leg or a transaction", found)
	}
}
