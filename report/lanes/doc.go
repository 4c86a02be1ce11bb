// Package lanes gives work its nodes out of a group of like ones: which lanes are free, and
// which of them something takes. It knows neither jobs nor time.
package lanes
