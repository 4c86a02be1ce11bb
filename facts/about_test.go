package facts

import (
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// named is what the fields of a fact are about: Leg, Tx, Job, Site and User by their names
// and types, those of a fact that it holds, and those of what it embeds.
func named(v reflect.Value) (s Subject) {
	for i := range v.NumField() {
		field, x := v.Type().Field(i), v.Field(i).Interface()
		switch x := x.(type) {
		case grid.LegID:
			if field.Name == "Leg" {
				s.Leg, s.Tx = x, x.Tx
			}
			continue
		case grid.TxID:
			if field.Name == "Tx" {
				s.Tx = x
			}
			continue
		case grid.Job:
			if field.Name == "Job" {
				s.Job, s.User = x.Name, x.User
			}
			continue
		case string:
			switch field.Name {
			case "Job":
				s.Job = x
			case "Site":
				s.Site = x
			case "User":
				s.User = x
			}
			continue
		}
		if _, fact := x.(Fact); field.Type.Kind() == reflect.Struct && (fact || field.Anonymous) {
			s.add(named(v.Field(i)))
		}
	}
	return s
}

func (s *Subject) add(o Subject) {
	to, from := reflect.ValueOf(s).Elem(), reflect.ValueOf(o)
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
}

// distinct fills a fact so that no two names in it are the same.
func distinct(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			distinct(v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.String:
		v.SetString(path)
	case reflect.Uint64, reflect.Uint32:
		v.SetUint(uint64(len(path)))
	}
}

// A fact is about what it has a field for: views that look for the facts of a leg, a
// transaction, a job, a site or a user find it, and nothing that it is not about.
func TestFacts_AreAboutWhatTheirFieldsName(t *testing.T) {
	t.Parallel()
	about := 0
	for _, zero := range Facts() {
		v := reflect.New(reflect.TypeOf(zero)).Elem()
		distinct(v, zero.Kind())
		got, want := About(v.Interface().(Fact)), named(v)
		if got != want {
			t.Errorf("%s says that it is about\n%+v, and its fields name\n%+v", zero.Kind(), got, want)
		}
		if want != (Subject{}) {
			about++
		}
		if got := About(zero); got != (Subject{}) {
			t.Errorf("an empty %s is about %+v", zero.Kind(), got)
		}
	}
	if about < 30 {
		t.Errorf("%d kinds are about anything", about)
	}
}

// A fact that is recorded later than it has happened says when it has.
func TestFacts_SayWhenTheyHaveHappened(t *testing.T) {
	t.Parallel()
	const recorded, happened = grid.Time(7000), grid.Time(3000)
	late := 0
	for _, zero := range Facts() {
		v := reflect.New(reflect.TypeOf(zero)).Elem()
		want := recorded
		name := map[string]string{JobStarted{}.Kind(): "Begun", JobEnded{}.Kind(): "Ended"}[zero.Kind()]
		if name == "" {
			name = "When"
		}
		if field := v.FieldByName(name); field.IsValid() {
			field.SetInt(int64(happened))
			want = happened
			late++
		}
		if got := Happened(recorded, v.Interface().(Fact)); got != want {
			t.Errorf("%s has happened at %v, want %v", zero.Kind(), got, want)
		}
		if got := Happened(recorded, zero); got != recorded {
			t.Errorf("%s without an instant has happened at %v", zero.Kind(), got)
		}
	}
	if late < 8 {
		t.Errorf("%d kinds can be recorded late", late)
	}
}
