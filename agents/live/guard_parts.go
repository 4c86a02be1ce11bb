package live

import (
	"errors"
	"fmt"

	"google.golang.org/grpc/encoding"
	codec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// An empty message within another takes two bytes on the wire and a hundred in memory, so a
// bound on bytes does not bound memory. Input is therefore counted before it is parsed.

// countParts counts the messages and texts within the bytes of a message, at every depth.
// It allocates nothing, and skips numbers and packed lists, which take little more memory
// than bytes. More than most parts are an error, and so are bytes that end within a field.
func countParts(b []byte, d protoreflect.MessageDescriptor, most int) (parts int, err error) {
	if parts, err = partsOf(b, d, most); err == errCrowd {
		err = fmt.Errorf("a message of more than %d parts", most)
	}
	return parts, err
}

func partsOf(b []byte, d protoreflect.MessageDescriptor, most int) (parts int, err error) {
	fields := d.Fields()
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return parts, errTorn
		}
		b = b[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
				return parts, errTorn
			}
			b = b[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return parts, errTorn
		}
		b = b[n:]
		field := fields.ByNumber(number)
		if field == nil {
			continue // kept as bytes, or dropped
		}
		message := field.Message()
		if message == nil && !(field.IsList() && !field.IsPacked()) {
			continue
		}
		if parts++; parts > most {
			return parts, errCrowd
		}
		if message != nil {
			within, err := partsOf(value, message, most-parts)
			if parts += within; err != nil {
				return parts, err
			}
		}
	}
	return parts, nil
}

var (
	errTorn  = errors.New("bytes that end within a field")
	errCrowd = errors.New("too many parts")
)

// maxRemoteParts bounds the parts of one message of the remote. Each envelope of a full
// batch is one, and so are the names of types and targets.
const maxRemoteParts = 8 * maxBatch

// countingCodec is gRPC's codec for protobuf, but counts before it parses.
type countingCodec struct{}

var plainCodec = encoding.GetCodecV2(codec.Name)

func (countingCodec) Name() string                           { return codec.Name }
func (countingCodec) Marshal(v any) (mem.BufferSlice, error) { return plainCodec.Marshal(v) }
func (countingCodec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("a %T is no message", v)
	}
	b := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer b.Free()
	if _, err := countParts(b.ReadOnlyData(), m.ProtoReflect().Descriptor(), maxRemoteParts); err != nil {
		return err
	}
	return proto.Unmarshal(b.ReadOnlyData(), m)
}
