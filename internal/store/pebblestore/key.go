package pebblestore

import (
	"encoding/binary"
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// The first byte of a key says what stands there. The letters are part of the
// format: none is ever used again for something else.
const (
	prefixMeta    = 'M' // the partition's own numbers, one key
	prefixToken   = 't' // token id → live record
	prefixArchive = 'a' // token id → record that left the live set
	prefixDoc     = 'd' // kind, id → document
	prefixEvent   = 'e' // number, big endian → event
	prefixOp      = 'o' // scope, key → remembered operation
	prefixMark    = 'k' // queue, business id and kind → when that last happened
	prefixTally   = 'y' // name → daily count
	prefixSeries  = 's' // site, name → last number given
)

var metaKey = []byte{prefixMeta}

func tokenKey(dst []byte, id dengxu.TokenID) []byte {
	return append(append(dst[:0], prefixToken), id...)
}

func archiveKey(dst []byte, id dengxu.TokenID) []byte {
	return append(append(dst[:0], prefixArchive), id...)
}

func eventKey(dst []byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst[:0], prefixEvent), n)
}

func docKey(dst []byte, k store.DocKey) []byte {
	return pairKey(dst, prefixDoc, string(k.Kind), k.ID)
}

func opKey(dst []byte, scope, key string) []byte { return pairKey(dst, prefixOp, scope, key) }

func markKey(dst []byte, k store.MarkKey) []byte {
	return pairKey(dst, prefixMark, string(k.Queue), k.Name())
}

func tallyKey(dst []byte, name string) []byte { return append(append(dst[:0], prefixTally), name...) }

func seriesKey(dst []byte, k ledger.SeriesKey) []byte {
	return pairKey(dst, prefixSeries, string(k.Site), k.Name)
}

// pairKey joins two names so that no other two give the same key: the length
// of the first stands before it.
func pairKey(dst []byte, prefix byte, a, b string) []byte {
	dst = binary.AppendUvarint(append(dst[:0], prefix), uint64(len(a)))
	return append(append(dst, a...), b...)
}

func splitPair(key []byte) (a, b string, err error) {
	n, size := binary.Uvarint(key[1:])
	if size <= 0 || n > uint64(len(key)-1-size) {
		return "", "", fmt.Errorf("key %q: %w", key, store.ErrDamaged)
	}
	at := 1 + size + int(n)
	return string(key[1+size : at]), string(key[at:]), nil
}

func eventNumber(key []byte) (uint64, error) {
	if len(key) != 9 {
		return 0, fmt.Errorf("key %q: %w", key, store.ErrDamaged)
	}
	return binary.BigEndian.Uint64(key[1:]), nil
}

// bounds is the range of all keys with a prefix.
func bounds(prefix byte) (lower, upper []byte) { return []byte{prefix}, []byte{prefix + 1} }
