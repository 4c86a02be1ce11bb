package grid

// Setting is one setting of an agent that has changed: its key as in the agent's file, such
// as "group main: price", and its values in words. "" stands for no value.
type Setting struct {
	Key string `json:"key"`
	Was string `json:"was"`
	Is  string `json:"is"`
}

// MaxSetting bounds the bytes of each of the three texts of a Setting.
const MaxSetting = 256

// GroupNodes is how many nodes a group of a site has.
type GroupNodes struct {
	Group string `json:"group"`
	Nodes int    `json:"nodes"`
}
