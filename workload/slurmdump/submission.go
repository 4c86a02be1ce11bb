package slurmdump

import (
	"strconv"
	"strings"
)

// jobNumber reads a job's number as users know it: "12", a task "12_3", tasks that wait
// "12_[4-9%2]", a part of a heterogeneous job "12+1". number is -1 if it is none of these.
func jobNumber(id string) (number, array, task int64, pending bool) {
	base, rest, isTask := strings.Cut(id, "_")
	base, _, _ = strings.Cut(base, "+")
	n, err := strconv.ParseInt(base, 10, 53)
	if err != nil || n < 0 {
		return -1, -1, 0, false
	}
	if !isTask {
		return n, n, 0, false
	}
	if strings.HasPrefix(rest, "[") {
		return n, n, 0, true
	}
	task, err = strconv.ParseInt(rest, 10, 53)
	if err != nil || task < 0 {
		return -1, -1, 0, false
	}
	return n, n, task, false
}

// count reads a number of nodes or CPUs: 2K is 2048, 4-8 at least 4.
func count(text string) (int, error) {
	text, _, _ = strings.Cut(text, "-")
	factor := 1
	if n := len(text); n > 0 && (text[n-1]|0x20 == 'k' || text[n-1]|0x20 == 'm') {
		if factor = 1 << 10; text[n-1]|0x20 == 'm' {
			factor = 1 << 20
		}
		text = text[:n-1]
	}
	n, err := strconv.ParseInt(text, 10, 31)
	return int(min(n*int64(factor), 1<<31-1)), err
}

// submission is what a line of submission says that accounting does not keep.
type submission struct {
	throttle int
	after    []string // numbers of jobs
	begin    bool     // it has a begin time
	nice     int64
}

// submitted reads the options of "sbatch --array=1-6%2 --dependency=afterok:12 job.sh".
// Options come before the name of the script.
func submitted(text string) (s submission) {
	list := words(text)
	for i := 1; i < len(list); i++ {
		w := strings.Trim(list[i], `"'`)
		if !strings.HasPrefix(w, "-") {
			break
		}
		key, value, has := strings.Cut(w, "=")
		if !strings.HasPrefix(w, "--") {
			key, value = w[:min(2, len(w))], strings.TrimPrefix(w[min(2, len(w)):], "=")
			has = value != ""
		}
		if !has && i+1 < len(list) && takesValue[key] {
			i++
			value = list[i]
		}
		switch value = strings.Trim(value, `"'`); key {
		case "-a", "--array":
			if _, n, ok := strings.Cut(value, "%"); ok {
				s.throttle, _ = strconv.Atoi(n)
			}
		case "-d", "--dependency":
			s.after = dependencies(value)
		case "-b", "--begin":
			s.begin = true
		case "--nice":
			s.nice = 100
			if n, err := strconv.ParseInt(value, 10, 32); err == nil {
				s.nice = n
			}
		}
	}
	s.throttle = max(s.throttle, 0)
	return s
}

// takesValue are the options of sbatch whose value may be a word of its own.
var takesValue = func() map[string]bool {
	m := map[string]bool{}
	for o := range strings.FieldsSeq(`-a --array -A --account -b --begin -c --cpus-per-task -C --constraint -d --dependency -D --chdir -e --error
		-F --nodefile -G --gpus -i --input -J --job-name -L --licenses -m --distribution -M --clusters -n --ntasks -N --nodes -o --output
		-p --partition -q --qos -S --core-spec -t --time -w --nodelist -x --exclude --mem --mem-per-cpu --gres --comment --export --mail-type
		--mail-user --ntasks-per-node --reservation --signal --time-min --uid --gid --wrap --tmp --threads-per-core --deadline --priority`) {
		m[o] = true
	}
	return m
}()

// dependencies reads "afterok:12:13,afterany:14_2": the jobs that must have ended. Other
// kinds (after, singleton) say nothing of an end, and are passed over.
func dependencies(text string) []string {
	var out []string
	for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ',' || c == '?' }) {
		kind, ids, _ := strings.Cut(part, ":")
		switch strings.ToLower(kind) {
		case "afterok", "afterany", "afternotok", "aftercorr":
			for id := range strings.SplitSeq(ids, ":") {
				id, _, _ = strings.Cut(id, "(") // (unfulfilled)
				id, _, _ = strings.Cut(id, "+")
				id = strings.TrimSuffix(strings.TrimSpace(id), "_*")
				if number, _, _, _ := jobNumber(id); number >= 0 {
					out = append(out, id)
				}
			}
		}
	}
	return out
}

// Remarks says what was left out or taken otherwise, a line each.
func (j *Jobs) Remarks(name string) []string {
	var out []string
	for _, of := range []struct {
		n    int
		what string
	}{
		{j.Tally.NeverRan, "jobs never ran: left out"},
		{j.Tally.Unended, "jobs had not ended: left out"},
		{j.Tally.Repeats, "rows of a job that another row has"},
		{j.Tally.Undepending, "jobs depend on jobs that are not in the dump: they count as eligible when they were"},
		{j.Tally.Unreserved, "jobs are in reservations that are not given (--slurm-reservations): they count as in none"},
		{j.Tally.Unassociated, "jobs have no association: no limits and no fair share for them"},
	} {
		if of.n > 0 {
			out = append(out, name+": "+strconv.Itoa(of.n)+" "+of.what)
		}
	}
	return out
}
