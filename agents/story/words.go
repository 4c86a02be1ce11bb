package story

import (
	"fmt"
	"reflect"
	"strings"
	"text/template"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Words prints messages and facts, each in a line of a trace.
type Words struct{ kinds *template.Template }

// NewWords reads a table of how kinds are printed. A line is "KIND KIND: TEMPLATE", with a
// template of package text/template; the functions are those of Functions and the caller's.
// Deeper lines go on with the line before. It panics on a template that cannot be read.
func NewWords(table string, own template.FuncMap) *Words {
	w := &Words{template.New("").Funcs(functions).Funcs(own)}
	for line := range strings.Lines(strings.ReplaceAll(table, "\n\t\t", "")) {
		kinds, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		for kind := range strings.FieldsSeq(kinds) {
			template.Must(w.kinds.New(kind).Parse(text))
		}
	}
	return w
}

// functions are what every table may use.
var functions = template.FuncMap{
	// fare is a price, with what is added to the base apart.
	"fare": func(f grid.Fare) string {
		if f.Additive == 0 {
			return f.Base.String()
		}
		return f.Base.String() + "+" + f.Additive.String()
	},
	// stamp is the epoch and the number of a site's answer.
	"stamp": func(s agents.Stamp) string { return fmt.Sprintf("[%d:%d]", s.Epoch, s.Seq) },
	"also":  Also,
	"leg":   Leg,
}

// Also is words and a value, or nothing if that is zero.
func Also(words string, value any) string {
	if reflect.ValueOf(value).IsZero() {
		return ""
	}
	return words + fmt.Sprint(value)
}

// Leg shows what a leg takes.
func Leg(l grid.Leg) string {
	return fmt.Sprintf("%d %s [%v, %v)", l.Nodes, l.Group, l.Start, l.End)
}

// Say prints a message or a fact: by the table, or its kind and all that it says.
func (w *Words) Say(x interface{ Kind() string }) string {
	var b strings.Builder
	if t := w.kinds.Lookup(x.Kind()); t != nil {
		if err := t.Execute(&b, x); err != nil {
			panic(err)
		}
		return b.String()
	}
	b.WriteString(x.Kind())
	say(&b, reflect.ValueOf(x))
	return b.String()
}

// say prints the fields that are set, the leg without its name.
func say(b *strings.Builder, v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if f.IsZero() || !v.Type().Field(i).IsExported() {
			continue
		}
		switch x := f.Interface().(type) {
		case agents.Stamp:
			fmt.Fprintf(b, " [%d:%d]", x.Epoch, x.Seq)
		case grid.LegID:
			if name == "Leg" {
				fmt.Fprintf(b, " %v", x)
				continue
			}
			fmt.Fprintf(b, " %s=%v", strings.ToLower(name), x)
		default:
			fmt.Fprintf(b, " %s=%v", strings.ToLower(name), x)
		}
	}
}
