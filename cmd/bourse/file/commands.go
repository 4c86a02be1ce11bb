// Package file holds the commands about files: check, generate and convert, and about the
// program that a file names as a driver.
package file

import "github.com/spf13/cobra"

// Commands lists the commands of the group, in the order of the help.
func Commands() []*cobra.Command {
	return []*cobra.Command{newCheck(), newGenerate(), newConvert(), newDriver()}
}
