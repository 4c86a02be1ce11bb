package configs

import (
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
)

// Table is a table of a file with its keys, in order of the file.
type Table struct {
	File string // the kind of the file
	Name string // "[[site.group]]"; "" for the root
	Doc  string
	Keys []keys.Reference
}

// Tables lists all tables of all files. A site's keys are listed twice: for a scenario and
// for the file of a process.
func Tables() []Table {
	var scenario string
	var out []Table
	for _, f := range []struct {
		kind kinds.Kind
		in   keys.Files
		list keys.List
	}{
		{kinds.Scenario, kinds.InScenario, new(Scenario).keys()},
		{kinds.Batch, kinds.InBatch, new(Batch).keys(false, 0)},
		{kinds.Sweep, kinds.InScenario, new(Sweep).keys(&scenario)},
		{kinds.Site, 0, new(Snapshot).keys()},
		{kinds.SiteProcess, kinds.InProcess, new(SiteProcess).keys()},
		{kinds.BrokerProcess, kinds.InProcess, new(BrokerProcess).keys()},
	} {
		out = listTables(out, f.kind, f.in, "", Table{File: string(f.kind)}, f.list)
	}
	return out
}

// listTables appends a table and those in it.
func listTables(out []Table, file kinds.Kind, in keys.Files, path string, t Table, list keys.List) []Table {
	at := len(out)
	out = append(out, t)
	for k := range list.Of(in) {
		a := k.About()
		if a.Below != nil {
			below := k.Name
			if path != "" {
				below = path + "." + k.Name
			}
			within := in
			if k.Name == "job" && path == "broker" {
				within = kinds.InScenario
			}
			out = listTables(out, file, within, below, Table{File: string(file), Name: a.Shape(below), Doc: k.Doc}, a.Below())
			continue
		}
		t.Keys = append(t.Keys, k.Describe())
	}
	out[at] = t
	return out
}

// Words lists the words that a key such as "broker.algorithm" or "site.pricing" allows; nil
// if the key takes other values or does not exist.
func Words(path string) []string {
	for _, t := range Tables() {
		for _, k := range t.Keys {
			name := k.Name
			if t.Name != "" {
				name = strings.Trim(t.Name, "[]") + "." + k.Name
			}
			if name == path {
				return slices.Clone(k.Words)
			}
		}
	}
	return nil
}
