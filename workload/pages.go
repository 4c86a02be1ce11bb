package workload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The library takes memory for the footer and for each page before it reads them, as much as
// the file says they have, so a few bytes could ask for gigabytes. These sizes are therefore
// checked first.

// checkFooter checks the size of the footer, before the last eight bytes.
func checkFooter(f io.ReaderAt, size int64) error {
	var last [8]byte
	if size < 12 {
		return errors.New("it has fewer than 12 bytes")
	}
	if _, err := f.ReadAt(last[:], size-8); err != nil {
		return err
	}
	if n := int64(binary.LittleEndian.Uint32(last[:])); n > size-12 {
		return fmt.Errorf("its footer is said to have %d bytes; the file has %d", n, size)
	}
	return nil
}

// maxPage bounds the bytes of a page of a Parquet file once it is decompressed. Writers
// make pages of about 1 MB.
const maxPage = 256 << 20

// checkPages checks the sizes in the headers of all pages. It costs a read of a few kilobytes
// for each page.
func checkPages(f io.ReaderAt, size int64, m *format.FileMetaData) error {
	for i := range m.RowGroups {
		for k := range m.RowGroups[i].Columns {
			c := &m.RowGroups[i].Columns[k].MetaData
			at := c.DataPageOffset
			if c.DictionaryPageOffset > 0 {
				at = c.DictionaryPageOffset
			}
			if at < 0 || c.TotalCompressedSize < 0 || at > size || c.TotalCompressedSize > size-at {
				return fmt.Errorf("column %d of row group %d has %d bytes from byte %d on, in a file of %d", k+1, i+1, c.TotalCompressedSize, at, size)
			}
			for end := at + c.TotalCompressedSize; at < end; {
				n, err := pageSize(f, at, end)
				if err != nil {
					return fmt.Errorf("the page at byte %d: %w", at, err)
				}
				at += n
			}
		}
	}
	return nil
}

// pageSize returns the bytes of the page at a place, with its header. Its column ends at
// end.
func pageSize(f io.ReaderAt, at, end int64) (int64, error) {
	for most := int64(4 << 10); ; most *= 8 { // a header may hold long texts, the least and the greatest
		b := make([]byte, min(most, end-at))
		if _, err := f.ReadAt(b, at); err != nil {
			return 0, err
		}
		var h format.PageHeader
		r := new(thrift.CompactProtocol).NewReaderFromBytes(b)
		if err := thrift.NewDecoder(r).Decode(&h); err != nil {
			if int64(len(b)) < end-at {
				continue
			}
			return 0, err
		}
		header, data := int64(r.BytesRead()), int64(h.CompressedPageSize)
		if data < 0 || data > end-at-header {
			return 0, fmt.Errorf("it is said to have %d bytes; its column has %d left", data, end-at-header)
		}
		if h.UncompressedPageSize < 0 || h.UncompressedPageSize > maxPage {
			return 0, fmt.Errorf("it is said to have %d bytes once it is decompressed; must be 0 to %d", h.UncompressedPageSize, maxPage)
		}
		return header + data, nil
	}
}
