package feed

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Cursor is a position in the logs of every partition, in the order of the
// partitions. It has no power: what a reader may see is checked each time.
type Cursor []store.Cursor

// cursorForm is the first byte of an encoded cursor, so that another form can
// follow without being taken for this one.
const cursorForm = 1

// maxCursor bounds what ParseCursor looks at: 256 partitions with the largest
// epoch and number.
const maxCursor = 8 << 10

var cursorText = base64.RawURLEncoding.Strict()

// String encodes c: base64url of the form, then partition, epoch and number of
// each log, then a checksum.
func (c Cursor) String() string {
	b := make([]byte, 1, 1+len(c)*12+crc32.Size)
	b[0] = cursorForm
	for _, at := range c {
		b = append(b, byte(at.Partition))
		b = binary.AppendUvarint(b, at.Epoch)
		b = binary.AppendUvarint(b, at.Number)
	}
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return cursorText.EncodeToString(b)
}

// ParseCursor decodes what String wrote. Anything else, also one changed
// character, is Invalid, field after.
func ParseCursor(s string) (Cursor, error) {
	bad := dengxu.Fieldf(dengxu.Invalid, "after", "this is not a cursor").Because("cursor")
	if len(s) > maxCursor {
		return nil, bad
	}
	b, err := cursorText.DecodeString(s)
	if err != nil || len(b) < 1+crc32.Size || b[0] != cursorForm {
		return nil, bad
	}
	body, sum := b[:len(b)-crc32.Size], b[len(b)-crc32.Size:]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(sum) {
		return nil, bad
	}
	var c Cursor
	for rest := body[1:]; len(rest) > 0; {
		at := store.Cursor{Partition: store.Partition(rest[0])}
		var ok bool
		if at.Epoch, rest, ok = uvarint(rest[1:]); !ok {
			return nil, bad
		}
		if at.Number, rest, ok = uvarint(rest); !ok {
			return nil, bad
		}
		if len(c) > 0 && c[len(c)-1].Partition >= at.Partition {
			return nil, bad
		}
		c = append(c, at)
	}
	if c.String() != s { // a number has longer spellings too
		return nil, bad
	}
	return c, nil
}

func uvarint(b []byte) (uint64, []byte, bool) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, b, false
	}
	return v, b[n:], true
}
