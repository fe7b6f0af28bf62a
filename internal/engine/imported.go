package engine

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// A token's id says in which partition it was made. After an import into a
// store with another number of partitions its site is elsewhere. The document
// of the import, in the site's partition, says which partitions the ids of its
// tokens name; so an id that is in one of those lists is looked for in a few
// partitions, and any other, as ever, in one.

// ImportRecord is the document of an import in one partition.
type ImportRecord struct {
	// Ranges are the arrival numbers that were set aside for each partition
	// that the import comes from.
	Ranges map[string]ImportRange `json:"ranges,omitempty"`
	// Named are the partitions that ids of imported tokens name, without the
	// one that has them.
	Named []int `json:"named,omitempty"`
	Done  bool  `json:"done,omitempty"`
}

// ImportRange says that arrival numbers from After+1 on were set aside.
type ImportRange struct {
	After uint64 `json:"after"`
	Taken bool   `json:"taken,omitempty"` // the partition's last number was raised
}

// Home is the partition that has everything of a site, in a store with so many.
func Home(id dengxu.SiteID, parts int) store.Partition { return partitionOfSite(id, parts) }

// NamedIn returns the partition that an id names; false when it is none of
// ours.
func NamedIn(id dengxu.TokenID) (store.Partition, bool) { return partitionIn(id) }

// NameOf returns the document that gives an id to a site, in the first of
// several partitions, without a version.
func NameOf(key store.DocKey, site dengxu.SiteID) (store.Doc, error) {
	body, err := json.Marshal(nameRecord{site})
	return store.Doc{Key: nameKey(key), Body: body}, err
}

// NamedSite returns which site has an id by such a document, "" = nobody.
func NamedSite(d *store.Doc) (dengxu.SiteID, error) {
	var rec nameRecord
	err := json.Unmarshal(d.Body, &rec)
	return rec.Site, err
}

// imported knows which partitions have tokens whose ids name others.
type imported struct {
	some  atomic.Bool // whether any has
	named []atomic.Pointer[[]int]
}

// set takes in the documents of a partition.
func (m *imported) set(p store.Partition, docs []store.Doc) error {
	var named []int
	var bad error
	for _, d := range docs {
		if d.Key.Kind != store.DocImport {
			continue
		}
		var rec ImportRecord
		if err := json.Unmarshal(d.Body, &rec); err != nil {
			bad = err
			continue
		}
		named = append(named, rec.Named...)
	}
	m.named[p].Store(&named)
	if len(named) > 0 {
		m.some.Store(true)
	}
	return bad
}

// homes are the partitions that may have an id which names p, besides p.
func (m *imported) homes(p store.Partition) []store.Partition {
	if !m.some.Load() {
		return nil
	}
	var homes []store.Partition
	for i := range m.named {
		named := m.named[i].Load()
		if i != int(p) && named != nil && slices.Contains(*named, int(p)) {
			homes = append(homes, store.Partition(i))
		}
	}
	return homes
}

// locate finds the partition that has a token, or would have it. It returns
// NotFound for an id that is none of ours.
func (e *Engine) locate(ctx context.Context, id dengxu.TokenID) (store.Partition, error) {
	p, ok := partitionIn(id)
	if !ok {
		return 0, errNoToken()
	}
	homes := e.imported.homes(p)
	if int(p) < e.parts {
		homes = append([]store.Partition{p}, homes...)
	}
	if len(homes) == 0 {
		return 0, errNoToken()
	}
	for _, home := range homes[:len(homes)-1] {
		v, err := e.view(ctx, store.Ask{Partition: home, Tokens: []dengxu.TokenID{id}})
		if err != nil {
			return 0, err
		}
		if v.Tokens[0] != nil {
			return home, nil
		}
	}
	return homes[len(homes)-1], nil // nearly always the only one
}
