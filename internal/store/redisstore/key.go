package redisstore

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// hashSlots is how many hash slots a Redis Cluster has.
const hashSlots = 16384

// slotTag is a hash tag that lies in a slot, found by trying.
func slotTag(slot uint16) string {
	for n := 0; ; n++ {
		if tag := strconv.Itoa(n); crc16(tag)%hashSlots == slot {
			return tag
		}
	}
}

// crc16 is CRC-16/XMODEM, as the Redis Cluster specification wants it.
func crc16(s string) uint16 {
	var crc uint16
	for i := range len(s) {
		crc ^= uint16(s[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

// keyNames are the ends of the keys of a partition, in the order of meta.lua.
var keyNames = [...]string{"state", "live", "ended", "archive", "lines", "due", "docs", "ops0", "ops1", "marks", "buckets", "log", "oldest", "hint"}

// The keys that Go names, by their place in keyNames, from 1 as Lua counts.
const (
	keyState   = 1
	keyLive    = 2
	keyEnded   = 3
	keyArchive = 4
	keyLines   = 5
	keyDue     = 6
	keyDocs    = 7
	keyOps     = 8 // two of them
	keyMarks   = 10
	keyBuckets = 11
	keyLog     = 12
	keyHint    = 14 // the channel of hints
)

// partitionKeys are the keys of partition i of n. The tags lie so that any even
// split of the hash slots is an even split of the partitions.
func partitionKeys(prefix string, i, n int) []string {
	keys := make([]string, len(keyNames))
	tag := slotTag(uint16(hashSlots * i / n))
	for k, name := range keyNames {
		keys[k] = prefix + "{" + tag + "}" + name
	}
	return keys
}

// rawID is the first byte of an id that is not one of the engine's.
const rawID = "\xff"

// packID writes an id in fewer bytes where it is one of the engine's: base32
// of 17 bytes. One that begins with a zero stays as it is: so do documents
// among what is due.
func packID(id dengxu.TokenID) string {
	var b [17]byte
	if len(id) == 27 {
		if n, err := store.Base32.Decode(b[:], []byte(id+"0")); err == nil && n == len(b) && b[0] != 0 && unpackID(string(b[:])) == id {
			return string(b[:])
		}
	}
	return rawID + string(id)
}

// unpackID reads what packID wrote.
func unpackID(s string) dengxu.TokenID {
	if raw, ok := strings.CutPrefix(s, rawID); ok {
		return dengxu.TokenID(raw)
	}
	text := store.Base32.EncodeToString([]byte(s))
	return dengxu.TokenID(text[:max(len(text)-1, 0)])
}

func packLine(k store.LineKey) string {
	return string(binary.BigEndian.AppendUint32(append([]byte(k.Queue), 0), uint32(k.Gen)))
}

func packLane(l order.Lane) string {
	b := make([]byte, 0, len(l.Class)+len(l.Group)+4)
	b = append(append(b, l.Class...), 0)
	b = append(append(b, l.Group...), 0)
	return string(binary.BigEndian.AppendUint16(b, uint16(l.K)))
}

// unpackLane reads what packLane wrote and returns what follows it.
func unpackLane(s string) (l order.Lane, rest string, ok bool) {
	class, s, ok1 := strings.Cut(s, "\x00")
	group, s, ok2 := strings.Cut(s, "\x00")
	if !ok1 || !ok2 || len(s) < 2 {
		return l, "", false
	}
	return order.Lane{Class: class, Group: group, K: int(binary.BigEndian.Uint16([]byte(s[:2])))}, s[2:], true
}

// packMember writes a lane, a place and a seq.
func packMember(m order.Member) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(max(m.Key.Place, 0))<<16)
	binary.BigEndian.PutUint64(b[8:], m.Key.Seq<<16)
	return packLane(m.Lane) + string(b[:6]) + string(b[8:14])
}

// unpackMember reads a lane, a place and a seq.
func unpackMember(s string) (m order.Member, ok bool) {
	lane, rest, ok := unpackLane(s)
	if !ok || len(rest) != keySize {
		return m, false
	}
	return order.Member{Lane: lane, Key: unpackPoint([]byte(rest))}, true
}

// keySize is how many bytes a point in a lane has: place and seq.
const keySize = 12

// unpackPoint reads a place and a seq, of at least keySize bytes.
func unpackPoint(b []byte) order.Key {
	return order.Key{Place: int64(big(b[:6])), Seq: big(b[6:keySize])}
}

// big reads an unsigned number of up to eight bytes.
func big(b []byte) (v uint64) {
	for _, x := range b {
		v = v<<8 | uint64(x)
	}
	return v
}

func packKey(k store.DocKey) string { return string(k.Kind) + "\x00" + k.ID }

func unpackKey(s string) store.DocKey {
	kind, id, _ := strings.Cut(s, "\x00")
	return store.DocKey{Kind: store.DocKind(kind), ID: id}
}

func packMark(k store.MarkKey) string { return string(k.Queue) + "\x00" + k.Name() }

func tallyField(name string) string { return "nt" + name }

func seriesField(site dengxu.SiteID, name string) string { return "ns" + string(site) + "\x00" + name }

// symbol stands for the partition's time in a script, whose numbers are
// doubles: 2^50 + the distance from now.
const symbol = int64(1) << 50

// packTime writes a time that may be symbolic.
func packTime(v int64) int64 {
	if store.Symbolic(v) {
		return v - store.Now + symbol
	}
	return v
}
