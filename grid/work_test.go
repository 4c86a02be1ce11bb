package grid

import (
	"fmt"
	"strings"
	"testing"
)

func TestWork_WhatCannotBeRunIsSaidWithItsNumbers(t *testing.T) {
	t.Parallel()
	command := []string{"sh", "-c", "echo one\necho two"}
	env := func(pairs ...string) (list []EnvVar) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, EnvVar{pairs[i], pairs[i+1]})
		}
		return list
	}
	many := make([]EnvVar, MaxEnv+1)
	for i := range many {
		many[i] = EnvVar{Name: fmt.Sprintf("V%03d", i)}
	}
	for _, c := range []struct {
		work      Work
		key, want string
	}{
		{Work{Command: command, Env: env("A", "1", "B_2", "x=y"), Dir: "/scratch", Output: "out/%j.%l", Rendezvous: true}, "", ""},
		{Work{Script: "#!/bin/sh\nhostname\n"}, "", ""},
		{Work{Script: "#!" + strings.Repeat("x", MaxScript-2)}, "", ""},
		{Work{}, "command", "missing"},
		{Work{Command: command, Script: "#!/bin/sh\n"}, "command", "one of them"},
		{Work{Command: []string{}}, "command", "names no program"},
		{Work{Command: []string{"", "x"}}, "command", "names no program"},
		{Work{Command: []string{"sh", "a\x00b"}}, "command", "NUL"},
		{Work{Command: []string{"sh", strings.Repeat("x", MaxScript)}}, "command", "has 65540 bytes, at most 65536"},
		{Work{Script: "#!" + strings.Repeat("x", MaxScript-1)}, "script", "has 65537 bytes, at most 65536"},
		{Work{Script: "hostname"}, "script", "#!/bin/sh"},
		{Work{Script: "#!/bin/sh\n\xff"}, "script", "must be text"},
		{Work{Command: command, Env: env("1A", "")}, "env", "no name of a variable"},
		{Work{Command: command, Env: env("A B", "")}, "env", "no name of a variable"},
		{Work{Command: command, Env: env("", "")}, "env", "no name of a variable"},
		{Work{Command: command, Env: env("BOURSE_JOB", "x")}, "env", "choose another name"},
		{Work{Command: command, Env: env("A", "", "A", "")}, "env", "twice"},
		{Work{Command: command, Env: env("A", "x\x00")}, "env", "NUL"},
		{Work{Command: command, Env: many}, "env", "has 257 variables, at most 256"},
		{Work{Command: command, Env: env("A", strings.Repeat("x", MaxEnvBytes))}, "env", "at most 65536"},
		{Work{Command: command, Dir: "scratch"}, "workdir", "not absolute"},
		{Work{Command: command, Dir: "/a\nb"}, "workdir", "cannot be seen"},
		{Work{Command: command, Dir: "/" + strings.Repeat("x", MaxPath)}, "workdir", "has 1025 bytes, at most 1024"},
		{Work{Command: command, Output: "/etc/out"}, "output", "leaves the folder"},
		{Work{Command: command, Output: "a/../../out"}, "output", "leaves the folder"},
		{Work{Command: command, Output: "out/"}, "output", "is a folder"},
		{Work{Command: command, Output: "out-%"}, "output", "after % there must be"},
		{Work{Command: command, Output: "out-%x"}, "output", "after % there must be"},
	} {
		switch wrong := c.work.Check(); {
		case c.key == "" && wrong != nil:
			t.Errorf("%.60q: refused: %s: %v", fmt.Sprint(c.work), wrong.Key, wrong.Err)
		case c.key == "":
		case wrong == nil:
			t.Errorf("%.60q: taken, want %s: %s", fmt.Sprint(c.work), c.key, c.want)
		case wrong.Key != c.key || !strings.Contains(wrong.Err.Error(), c.want):
			t.Errorf("%.60q: %s: %v, want %s: %s", fmt.Sprint(c.work), wrong.Key, wrong.Err, c.key, c.want)
		}
	}
}

func TestWork_IsTheSameOnlyInAllItsParts(t *testing.T) {
	t.Parallel()
	whole := func() *Work {
		return &Work{Command: []string{"a", "b"}, Env: []EnvVar{{"A", "1"}}, Dir: "/d", Output: "o", Rendezvous: true}
	}
	var none *Work
	if !whole().Same(whole()) || !none.Same(nil) || none.Same(whole()) || whole().Same(nil) || none.Size() != 0 || whole().Size() != 11 {
		t.Errorf("same %v, size %d", whole().Same(whole()), whole().Size())
	}
	for i, change := range []func(*Work){
		func(w *Work) { w.Command = []string{"a"} }, func(w *Work) { w.Script = "#!" }, func(w *Work) { w.Env[0].Value = "2" },
		func(w *Work) { w.Dir = "" }, func(w *Work) { w.Output = "" }, func(w *Work) { w.Rendezvous = false },
	} {
		o := whole()
		if change(o); o.Same(whole()) {
			t.Errorf("change %d is not seen", i)
		}
	}
}
