package columnar

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// cells reads a Parquet file back: its columns, and the rows as text.
func cells(t *testing.T, file []byte) (head []string, rows [][]string) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Root().Columns() {
		head = append(head, c.Name())
	}
	r := parquet.NewReader(f)
	defer r.Close()
	for batch := make([]parquet.Row, 10); ; {
		n, err := r.ReadRows(batch)
		for _, row := range batch[:n] {
			var list []string
			for _, v := range row {
				if v.IsNull() {
					list = append(list, "-")
				} else {
					list = append(list, fmt.Sprintf("%v:%v", v.Kind(), v))
				}
			}
			rows = append(rows, list)
		}
		if errors.Is(err, io.EOF) {
			return head, rows
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestJobs_HaveTheCellsOfTheirTable(t *testing.T) {
	t.Parallel()
	text := "broker,site,job,kind,submit,start,end,nodes,cost\n,north,7,local,0.5,10,,4,0\nvo1,south,\"a, b\",vo,3600,7200,9000.25,12,1.5\n"
	var out, again bytes.Buffer
	if err := Jobs(&out, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	head, rows := cells(t, out.Bytes())
	if got := strings.Join(head, ","); got != "broker,cost,end,job,kind,nodes,site,start,submit" {
		t.Error(got)
	}
	want := []string{"- DOUBLE:0 - BYTE_ARRAY:7 BYTE_ARRAY:local INT64:4 BYTE_ARRAY:north DOUBLE:10 DOUBLE:0.5",
		"BYTE_ARRAY:vo1 DOUBLE:1.5 DOUBLE:9000.25 BYTE_ARRAY:a, b BYTE_ARRAY:vo INT64:12 BYTE_ARRAY:south DOUBLE:7200 DOUBLE:3600"}
	for i := range want {
		if len(rows) != len(want) || strings.Join(rows[i], " ") != want[i] {
			t.Errorf("%q, want %q", rows, want)
			break
		}
	}
	if err := Jobs(&again, strings.NewReader(text)); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Error("the same table gives other bytes", err)
	}
}

// More rows than are written together, each with its own line.
func TestEvents_HaveALineEach(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	const n = 2*atOnce + 3
	for i := range n {
		fmt.Fprintf(&text, "{\"at\":%d.25,\"agent\":\"site:north\",\"kind\":\"x\",\"n\":%d}\n", i, i)
	}
	var out bytes.Buffer
	if err := Events(&out, strings.NewReader(text.String())); err != nil {
		t.Fatal(err)
	}
	head, rows := cells(t, out.Bytes())
	if strings.Join(head, ",") != "agent,at,fact,kind" || len(rows) != n {
		t.Fatalf("%q, %d rows", head, len(rows))
	}
	for i, row := range rows {
		if want := fmt.Sprintf(`BYTE_ARRAY:site:north|DOUBLE:%d.25|BYTE_ARRAY:{"at":%d.25,"agent":"site:north","kind":"x","n":%d}|BYTE_ARRAY:x`, i, i, i); strings.Join(row, "|") != want {
			t.Fatalf("row %d: %q, want %q", i, row, want)
		}
	}
}

func TestColumnar_ErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "line 1: has no columns", "job,nodes\na,4\nb,x\n": `line 3: nodes "x" is no whole number`, "job,submit\na,soon\n": `line 2: submit "soon" is no number`} {
		if err := Jobs(io.Discard, strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := Events(io.Discard, strings.NewReader("{\"at\":1}\nx\n")); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
		t.Error(err)
	}
}

func FuzzJobs(f *testing.F) {
	f.Add("job,submit,nodes\na,1,2\n")
	f.Fuzz(func(t *testing.T, text string) {
		var out bytes.Buffer
		if Jobs(&out, strings.NewReader(text)) == nil {
			cells(t, out.Bytes())
		}
	})
}
