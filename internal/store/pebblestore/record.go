package pebblestore

import (
	"fmt"
	"hash/crc64"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// meta is the partition's own numbers, written with every group.
type meta struct {
	ledger.Meta
	First uint64           // number of the oldest event kept
	Group uint64           // groups written so far
	Sum   uint64           // of the hashes of everything that load reads: see hashOf
	Clock store.ClockState // as it stood when the group was judged

	Live    uint64 // live records, and business ids among them: so that an
	Persons uint64 // open makes room for them at once
}

func appendMeta(dst []byte, m *meta) []byte {
	e := store.NewEncoder(dst)
	e.Uint(1, m.Epoch)
	e.Uint(2, m.Arrival)
	e.Uint(3, m.CallNo)
	e.Uint(4, m.Event)
	e.Uint(5, m.First)
	e.Uint(6, m.Group)
	e.Uint(7, m.Sum)
	e.Int(8, m.Clock.Now)
	e.Int(9, m.Clock.Behind)
	e.Int(10, m.Clock.Doubt)
	e.Int(11, m.Clock.Doubted)
	e.Uint(12, m.Live)
	e.Uint(13, m.Persons)
	return e.Buf()
}

func decodeMeta(b []byte) (m meta, err error) {
	d := store.NewDecoder(b)
	for d.Next() {
		switch d.Tag() {
		case 1:
			m.Epoch = d.Uint()
		case 2:
			m.Arrival = d.Uint()
		case 3:
			m.CallNo = d.Uint()
		case 4:
			m.Event = d.Uint()
		case 5:
			m.First = d.Uint()
		case 6:
			m.Group = d.Uint()
		case 7:
			m.Sum = d.Uint()
		case 8:
			m.Clock.Now = d.Int()
		case 9:
			m.Clock.Behind = d.Int()
		case 10:
			m.Clock.Doubt = d.Int()
		case 11:
			m.Clock.Doubted = d.Int()
		case 12:
			m.Live = d.Uint()
		case 13:
			m.Persons = d.Uint()
		default:
			d.Unknown()
		}
	}
	return m, d.Err()
}

func appendOp(dst []byte, op *ledger.OpRecord) []byte {
	e := store.NewEncoder(dst)
	e.Bytes(1, op.Hash[:])
	e.Int(2, op.Expires)
	e.Text(3, op.Note)
	for _, id := range op.Tokens {
		e.Entry(4, string(id))
	}
	e.Int(5, int64(op.Picked))
	return e.Buf()
}

func decodeOp(b []byte) (*ledger.OpRecord, error) {
	d := store.NewDecoder(b)
	op := new(ledger.OpRecord)
	for d.Next() {
		switch d.Tag() {
		case 1:
			if n := copy(op.Hash[:], d.Text()); n != len(op.Hash) {
				return nil, fmt.Errorf("hash of %d bytes: %w", n, store.ErrDamaged)
			}
		case 2:
			op.Expires = d.Int()
		case 3:
			op.Note = d.Text()
		case 4:
			op.Tokens = append(op.Tokens, dengxu.TokenID(d.Text()))
		case 5:
			op.Picked = int(d.Int())
		default:
			d.Unknown()
		}
	}
	return op, d.Err()
}

// decodeExpires reads when an operation is over and leaves the rest.
func decodeExpires(b []byte) (int64, error) {
	d := store.NewDecoder(b)
	for d.Next() {
		if d.Tag() == 2 {
			return d.Int(), d.Err()
		}
	}
	return 0, d.Err()
}

// mark is when a business id's last token ended, and when that is forgotten.
type mark struct {
	at, until int64
	hash      uint64 // of the record, 0 when there is none
}

// on is the mark as seen at a time.
func (m mark) on(now int64) int64 {
	if m.until <= now {
		return 0
	}
	return m.at
}

func appendMark(dst []byte, m mark) []byte {
	e := store.NewEncoder(dst)
	e.Int(1, m.at)
	e.Near(2, m.until, m.at)
	return e.Buf()
}

func decodeMark(b []byte) (m mark, err error) {
	d := store.NewDecoder(b)
	for d.Next() {
		switch d.Tag() {
		case 1:
			m.at = d.Int()
		case 2:
			m.until = d.Near(m.at)
		default:
			d.Unknown()
		}
	}
	return m, d.Err()
}

func appendDaily(dst []byte, v ledger.Daily) []byte {
	e := store.NewEncoder(dst)
	e.Int(1, int64(v.Day))
	e.Int(2, v.N)
	return e.Buf()
}

func decodeDaily(b []byte) (v ledger.Daily, err error) {
	d := store.NewDecoder(b)
	for d.Next() {
		switch d.Tag() {
		case 1:
			v.Day = int(d.Int())
		case 2:
			v.N = d.Int()
		default:
			d.Unknown()
		}
	}
	return v, d.Err()
}

var crcTable = crc64.MakeTable(crc64.ECMA)

// hashOf is what one key and its value add to the state sum. The sum does not
// depend on the order in which keys are read, and a change of one key changes
// it by the difference of two hashes. A CRC alone would not do: sums of CRCs
// of related values are related, so the bits are mixed once more (the finish
// of splitmix64, Steele, Lea and Flood 2014).
func hashOf(key, value []byte) uint64 {
	h := crc64.Update(crc64.Update(uint64(len(key)), crcTable, key), crcTable, value)
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
