package web

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// The library's settings hold for the program as a whole; no other package of
// it uses the library. Lists are never null, and a problem's detail says what is
// wrong where the library would only say that something is.
func init() {
	huma.DefaultArrayNullable = false
	plain := huma.NewError
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		if message == "validation failed" && len(errs) > 0 {
			message = reworded(errs[0])
		}
		return plain(status, message, errs...)
	}
}

// reworded is what is wrong, and where.
func reworded(err error) string {
	d, ok := err.(huma.ErrorDetailer)
	if !ok {
		return err.Error()
	}
	detail := d.ErrorDetail()
	words := detail.Message
	if strings.HasPrefix(words, "unknown content type") {
		words += "; send application/json"
	}
	if detail.Location == "" {
		return words
	}
	return detail.Location + ": " + words
}
