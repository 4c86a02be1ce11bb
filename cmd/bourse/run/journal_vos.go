package run

import (
	"io/fs"
	"path/filepath"
	"reflect"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
)

// voFolders returns the VO of brokers, by folder: those whose file lies under the paths,
// together with files of sites that serve several VOs, theirs among them. Such sites know
// the broker as VO/NAME.
func voFolders(paths []string) (map[string]string, error) {
	served, of := map[string]bool{}, map[string]string{}
	for _, p := range paths {
		err := filepath.WalkDir(p, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(name) != ".toml" {
				return err
			}
			if site, err := configs.ReadSiteProcess(name); err == nil {
				for i := range site.VOs {
					served[site.VOs[i].Name] = true
				}
			} else if b, err := configs.ReadBrokerProcess(name); err == nil {
				of[filepath.Clean(b.Journal.Dir)] = b.Gossip.VO
			}
			return nil // some other file
		})
		if err != nil {
			return nil, err
		}
	}
	for dir, vo := range of {
		if !served[vo] {
			delete(of, dir)
		}
	}
	return of, nil
}

// inVO rewrites a broker's fact the way sites of several VOs record it, with the broker's
// transactions named as those of VO/NAME. It may change f itself: do not use f afterwards.
func inVO(vo string, f agents.Fact) agents.Fact {
	v := reflect.New(reflect.TypeOf(f)).Elem()
	v.Set(reflect.ValueOf(f))
	renameTx(vo, v)
	return v.Interface().(agents.Fact)
}

var txType = reflect.TypeFor[grid.TxID]()

// renameTx renames all transaction identities in a value.
func renameTx(vo string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == txType {
			if id := v.Interface().(grid.TxID); id.Broker != "" {
				id.Broker = grid.InVO(vo, id.Broker)
				v.Set(reflect.ValueOf(id))
			}
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				renameTx(vo, v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			renameTx(vo, v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			renameTx(vo, v.Elem())
		}
	}
}
