package draw

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"
)

// Sheet says how classes look. Where a mark has several, what stands later in the
// sheet wins.
type Sheet []Ink

// Ink is how one class looks. What is empty is left to the mark's other classes,
// then to those of the groups around it. The class "" is that of all words.
type Ink struct {
	Class        string
	Fill, Stroke Paint
	Width        Px      // of the stroke
	Opacity      float64 // of the stroke, 0: full
	Dash         Px      // length of dashes and gaps, 0: none
	Round        bool    // ends and corners of the stroke
	Size         Px      // of words; 0: as the others
	Bold         bool
	Anchor       Anchor
	Halo         bool // words: the stroke lies under the fill
}

// Anchor is which end of words stands at their place.
type Anchor uint8

// The anchors.
const (
	AsIs Anchor = iota // as the other classes say; without one, the start
	Middle
	End
)

// Paint is a colour, on light ground and on dark, as #rrggbb, or a pattern of
// two; "none" as Light for no paint at all. Dark may be empty: the same.
type Paint struct {
	Light, Dark string
	Pattern     Pattern
	Over        [2]string // of a pattern: the colour of its lines or dots, light and dark
}

// Pattern is how two colours are laid over each other.
type Pattern uint8

// The patterns.
const (
	Plain Pattern = iota
	Hatch         // thin lines that rise to the right
	Dots
)

// Flat is a paint that is the same on light ground and on dark.
func Flat(colour string) Paint { return Paint{Light: colour} }

// Pair is a paint with a colour for either ground.
func Pair(light, dark string) Paint { return Paint{Light: light, Dark: dark} }

const fonts = `system-ui,"Segoe UI","Helvetica Neue",Arial,sans-serif`

// CSS writes the sheet as rules. The dark ones are for screens only: paper stays
// white.
func (s Sheet) CSS() string {
	var light, dark strings.Builder
	for i := range s {
		one := &s[i]
		selector, rules := "."+one.Class, one.rules(false)
		if one.Class == "" {
			selector = "svg text"
			rules = fmt.Sprintf("font:%vpx %s;", one.Size, fonts) + strings.ReplaceAll(rules, fmt.Sprintf("font-size:%vpx;", one.Size), "")
		}
		fmt.Fprintf(&light, "%s{%s}\n", selector, strings.TrimSuffix(rules, ";"))
		if rules := one.rules(true); rules != "" {
			fmt.Fprintf(&dark, "%s{%s}\n", selector, strings.TrimSuffix(rules, ";"))
		}
	}
	light.WriteString("@media screen and (prefers-color-scheme:dark){\n" + dark.String() + "}\n")
	return light.String()
}

func (k *Ink) rules(dark bool) string {
	var b strings.Builder
	paint := func(property string, p Paint) {
		switch {
		case p.Light == "" || dark && p.Dark == "":
		case p.Pattern != Plain && dark: // its parts have dark colours, see patterns
		case p.Pattern != Plain:
			fmt.Fprintf(&b, "%s:url(#p-%s);", property, k.Class)
		case dark:
			fmt.Fprintf(&b, "%s:%s;", property, p.Dark)
		default:
			fmt.Fprintf(&b, "%s:%s;", property, p.Light)
		}
	}
	paint("fill", k.Fill)
	paint("stroke", k.Stroke)
	if dark {
		return b.String()
	}
	add := func(when bool, format string, args ...any) {
		if when {
			fmt.Fprintf(&b, format+";", args...)
		}
	}
	add(k.Width > 0, "stroke-width:%vpx", k.Width)
	add(k.Opacity > 0, "stroke-opacity:%v", k.Opacity)
	add(k.Dash > 0, "stroke-dasharray:%v %v", k.Dash, k.Dash)
	add(k.Round, "stroke-linecap:round;stroke-linejoin:round")
	add(k.Size > 0, "font-size:%vpx", k.Size)
	add(k.Bold, "font-weight:600")
	add(k.Anchor == Middle, "text-anchor:middle")
	add(k.Anchor == End, "text-anchor:end")
	add(k.Halo, "paint-order:stroke")
	return b.String()
}

// patterns writes the definitions of the sheet's patterns, and CSS for them.
func (s Sheet) patterns() (defs, light, dark string) {
	for i := range s {
		k := &s[i]
		p := k.Fill
		if p.Pattern == Plain {
			continue
		}
		inner := fmt.Sprintf(`<path class="po-%s" d="M0 0V4" stroke-width="1.1"/>`, k.Class)
		turned := ` patternTransform="rotate(45)"`
		property := "stroke"
		if p.Pattern == Dots {
			inner, turned, property = fmt.Sprintf(`<circle class="po-%s" cx="2" cy="2" r=".7"/>`, k.Class), "", "fill"
		}
		defs += fmt.Sprintf(`<pattern id="p-%s" width="4" height="4" patternUnits="userSpaceOnUse"%s><rect class="pg-%s" width="4" height="4"/>%s</pattern>`+"\n",
			k.Class, turned, k.Class, inner)
		light += fmt.Sprintf(".pg-%s{fill:%s}.po-%s{%s:%s}\n", k.Class, p.Light, k.Class, property, p.Over[0])
		if p.Dark != "" {
			dark += fmt.Sprintf(".pg-%s{fill:%s}.po-%s{%s:%s}\n", k.Class, p.Dark, k.Class, property, p.Over[1])
		}
	}
	return defs, light, dark
}

// look is what the classes of a mark come to, beginning with what it inherits.
func (s Sheet) look(inherited Ink, classes string, words bool) Ink {
	k := inherited
	for i := range s {
		one := &s[i]
		if !(one.Class == "" && words) && !hasClass(classes, one.Class) {
			continue
		}
		set(&k.Fill, one.Fill, one.Fill.Light != "")
		set(&k.Stroke, one.Stroke, one.Stroke.Light != "")
		set(&k.Width, one.Width, one.Width > 0)
		set(&k.Opacity, one.Opacity, one.Opacity > 0)
		set(&k.Dash, one.Dash, one.Dash > 0)
		set(&k.Size, one.Size, one.Size > 0)
		set(&k.Bold, true, one.Bold)
		set(&k.Round, true, one.Round)
		set(&k.Halo, true, one.Halo)
		set(&k.Anchor, one.Anchor, one.Anchor != AsIs)
	}
	return k
}

func set[T any](to *T, from T, when bool) {
	if when {
		*to = from
	}
}

func hasClass(classes, class string) bool {
	if class == "" {
		return false
	}
	for classes != "" {
		one, rest, _ := strings.Cut(classes, " ")
		if one == class {
			return true
		}
		classes = rest
	}
	return false
}

// rgba reads #rgb or #rrggbb; what is neither is a broken invariant.
func rgba(colour string) color.RGBA {
	hex := strings.TrimPrefix(colour, "#")
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	v, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || len(hex) != 6 || len(hex) == len(colour) {
		panic("draw: no colour: " + colour)
	}
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
}
