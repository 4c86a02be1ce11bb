package main

import "github.com/bourse-grid/bourse/cmd/bourse/flags"

type calling struct{ flags.Calling }
