package search

// Lists of tests are short, and half of what they should try is lanes.
func init() { manySlots = 8 }
