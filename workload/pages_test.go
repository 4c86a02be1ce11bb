package workload

import (
	"bytes"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A few bytes that say they have gigabytes are refused before memory is taken for them.
func TestParquet_WhatIsLongerThanTheFileIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"PAR1": "fewer than 12 bytes", "PAR1\x05\x00\x00\x00PAR1": "its footer is said to have 5 bytes; the file has 12",
		"PAR1\x00\x00\x00\x00PAR1": "", "PAR1x\xff\xff\xff\xffPAR1": "4294967295 bytes; the file has 13",
	} {
		if err := checkFooter(strings.NewReader(text), int64(len(text))); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	const data = 20
	page := func(compressed, whole int32) []byte {
		h, err := thrift.Marshal(new(thrift.CompactProtocol), &format.PageHeader{Type: format.DataPageV2, CompressedPageSize: compressed, UncompressedPageSize: whole})
		if err != nil {
			t.Fatal(err)
		}
		return append(h, make([]byte, data)...)
	}
	for name, c := range map[string]struct {
		b    []byte
		less int64 // of the column
		want string
	}{
		"a page":                      {page(data, 30), 0, ""},
		"two pages":                   {append(page(data, 30), page(data, maxPage)...), 0, ""},
		"a page that is too long":     {page(data+1, 30), 0, "it is said to have 21 bytes; its column has 20 left"},
		"a second one":                {append(page(data, 30), page(1<<30, 30)...), 0, "its column has 20 left"},
		"less than no bytes":          {page(-1, 30), 0, "-1 bytes"},
		"too long when decompressed":  {page(data, maxPage+1), 0, "once it is decompressed"},
		"less than no bytes then":     {page(data, -1), 0, "once it is decompressed"},
		"a column of more than it is": {page(data, 30), -1, "in a file of"},
		"a column that ends early":    {page(data, 30), 1, "its column has 19 left"},
		"no header":                   {bytes.Repeat([]byte{0xff}, 9), 0, "the page at byte 0"},
	} {
		m := &format.FileMetaData{RowGroups: []format.RowGroup{{Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{TotalCompressedSize: int64(len(c.b)) - c.less}}}}}}
		if err := checkPages(bytes.NewReader(c.b), int64(len(c.b)), m); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
