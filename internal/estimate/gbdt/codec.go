package gbdt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// The format: a magic, a version, quantile, base, features, trees; of each tree
// its number of nodes and the nodes; a CRC-32C of all that. Big endian.
const (
	magic   = "dxqt"
	version = 1
	// nodeSize is value 8, feature 2, missing 1, left 2, right 2.
	nodeSize   = 15
	headerSize = len(magic) + 1 + 8 + 8 + 2 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MarshalBinary writes the model. Equal models give equal bytes; the error is
// always nil.
func (m *Model) MarshalBinary() ([]byte, error) {
	b := append(make([]byte, 0, headerSize+len(m.trees)*15*nodeSize), magic...)
	b = append(b, version)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(m.quantile))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(m.base))
	b = binary.BigEndian.AppendUint16(b, uint16(m.features))
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.trees)))
	for _, tree := range m.trees {
		b = binary.BigEndian.AppendUint16(b, uint16(len(tree)))
		for _, n := range tree {
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(n.value))
			b = binary.BigEndian.AppendUint16(b, uint16(n.feature))
			missing := byte(0)
			if n.missingLeft {
				missing = 1
			}
			b = append(b, missing)
			b = binary.BigEndian.AppendUint16(b, n.left)
			b = binary.BigEndian.AppendUint16(b, n.right)
		}
	}
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// UnmarshalBinary reads what MarshalBinary wrote. It refuses bytes that are
// damaged, of a newer version, or that no training could have written; the
// model is then unchanged.
func (m *Model) UnmarshalBinary(b []byte) error {
	if len(b) < headerSize+4 || string(b[:len(magic)]) != magic {
		return errors.New("this is no forest")
	}
	if v := b[len(magic)]; v != version {
		return fmt.Errorf("this forest is of version %d, and %d is known", v, version)
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return errors.New("the forest is damaged")
	}
	d := decoder{body[len(magic)+1:]}
	read := Model{quantile: d.float(), base: d.float(), features: int(d.uint16())}
	trees := int(d.uint32())
	switch {
	case read.features < 1 || read.features > maxFeatures || trees > maxTrees:
		return fmt.Errorf("a forest of %d trees over %d features", trees, read.features)
	case !finite(read.base) || !(read.quantile > 0 && read.quantile < 1):
		return errors.New("the forest has no quantile or no base")
	}
	for t := range trees {
		tree, err := d.tree(read.features)
		if err != nil {
			return fmt.Errorf("tree %d: %w", t, err)
		}
		read.trees = append(read.trees, tree)
	}
	if len(d.b) > 0 {
		return fmt.Errorf("%d bytes behind the last tree", len(d.b))
	}
	*m = read
	return nil
}

// decoder reads from the front; the caller knows that enough is left.
type decoder struct{ b []byte }

func (d *decoder) uint16() uint16 {
	v := binary.BigEndian.Uint16(d.b)
	d.b = d.b[2:]
	return v
}

func (d *decoder) uint32() uint32 {
	v := binary.BigEndian.Uint32(d.b)
	d.b = d.b[4:]
	return v
}

func (d *decoder) float() float64 {
	v := math.Float64frombits(binary.BigEndian.Uint64(d.b))
	d.b = d.b[8:]
	return v
}

func (d *decoder) tree(features int) ([]node, error) {
	if len(d.b) < 2 {
		return nil, errors.New("it is cut off")
	}
	n := int(d.uint16())
	if n < 1 || n >= 2*maxLeaves || len(d.b) < n*nodeSize {
		return nil, fmt.Errorf("it has %d nodes in %d bytes", n, len(d.b))
	}
	tree := make([]node, n)
	for i := range tree {
		at := &tree[i]
		at.value, at.feature = d.float(), int16(d.uint16())
		at.missingLeft, d.b = d.b[0] == 1, d.b[1:]
		at.left, at.right = d.uint16(), d.uint16()
		switch {
		case !finite(at.value) && (at.feature == leaf || math.IsNaN(at.value)):
			return nil, fmt.Errorf("node %d has no value", i)
		case at.feature == leaf:
		case at.feature < 0 || int(at.feature) >= features:
			return nil, fmt.Errorf("node %d asks for feature %d of %d", i, at.feature, features)
		case int(at.left) <= i || int(at.right) <= i || int(at.left) >= n || int(at.right) >= n:
			return nil, fmt.Errorf("node %d leads to %d and %d of %d", i, at.left, at.right, n)
		}
	}
	return tree, nil
}
