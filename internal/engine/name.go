package engine

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Ids of queues and counters are unique over all sites, and a commit touches
// one partition. So where there are several, an id is reserved first: a
// document in the first partition, its name, says which site has it; then the
// queue or counter is made in the site's partition. What a crash leaves in
// between is a name of something that does not exist, which anybody may take
// over.
//
// Taking over is safe by a second document, the fence, in the partition where
// the thing would be. Whoever makes it reads the fence, then writes the name
// (also one that is theirs already), then makes the thing, expecting the fence
// as it was read. Whoever takes the name away raises the fence while the thing
// does not exist, and then writes the name, expecting it as it was read before
// that. If the fence was raised before the maker read it, the maker's write of
// the name is after the other's read of it, and one of the two writes fails; if
// after, the making fails. Decision 0011 has the whole argument.

// nameRecord is the document of a name.
type nameRecord struct {
	Site dengxu.SiteID `json:"site,omitempty"` // "" = it is free again
}

// name is a name as it was read.
type name struct {
	site    dengxu.SiteID // "" = nobody has it
	version uint64
}

func nameKey(of store.DocKey) store.DocKey {
	return store.DocKey{Kind: store.DocName, ID: string(of.Kind) + "/" + of.ID}
}

func fenceKey(of store.DocKey) store.DocKey {
	return store.DocKey{Kind: store.DocName, ID: "fence/" + string(of.Kind) + "/" + of.ID}
}

// errAgain ends deciding: the picture was renewed, and deciding anew helps.
var errAgain = errors.New("decide anew")

func versionOf(d *store.Doc) uint64 {
	if d == nil {
		return 0
	}
	return d.Version
}

// reserve gives the id of something new to the site of the batch that makes it,
// and makes the batch fail when the id is lost meanwhile.
func (e *Engine) reserve(ctx context.Context, b *store.Batch, key store.DocKey) error {
	if e.parts == 1 {
		return nil // the document itself is the name
	}
	v, err := e.view(ctx, store.Ask{Partition: b.Partition, Docs: []store.DocKey{key, fenceKey(key)}, Op: b.Op})
	if err != nil {
		return err
	}
	if v.Op != nil || v.Docs[0] != nil {
		return nil // a repeat, or somebody was faster: the commit tells
	}
	b.Expect = append(b.Expect, store.DocAt{Key: fenceKey(key), Version: versionOf(v.Docs[1])})
	had, err := e.readName(ctx, key)
	if err != nil {
		return err
	}
	if had.site != "" && had.site != b.Site {
		vacant, err := e.vacate(ctx, key, had.site)
		if err != nil {
			return err
		}
		if !vacant {
			return errAgain // it is known now who has the id
		}
	}
	write, err := docWrite(store.DocName, nameKey(key).ID, "", nameRecord{b.Site}, 0, had.version)
	if err != nil {
		return err
	}
	if b.Partition == 0 {
		b.Docs = append(b.Docs, write)
		return nil
	}
	return e.commitName(ctx, store.Batch{Docs: []store.DocWrite{write}})
}

// readName reads who has an id.
func (e *Engine) readName(ctx context.Context, key store.DocKey) (name, error) {
	v, err := e.view(ctx, store.Ask{Docs: []store.DocKey{nameKey(key)}})
	if err != nil || v.Docs[0] == nil {
		return name{}, err
	}
	var rec nameRecord
	if err := json.Unmarshal(v.Docs[0].Body, &rec); err != nil {
		return name{}, storeError("read whose id "+key.ID+" is", err)
	}
	return name{rec.Site, v.Docs[0].Version}, nil
}

// vacate raises the fence of an id in a site that has its name, and reports
// whether nothing of that id existed there. If it did, the world has it
// afterwards.
func (e *Engine) vacate(ctx context.Context, key store.DocKey, site dengxu.SiteID) (bool, error) {
	p := partitionOfSite(site, e.parts)
	v, err := e.view(ctx, store.Ask{Partition: p, Docs: []store.DocKey{key, fenceKey(key)}})
	if err != nil {
		return false, err
	}
	if v.Docs[0] != nil {
		return false, e.refreshPart(ctx, p)
	}
	write, err := docWrite(store.DocName, fenceKey(key).ID, "", struct{}{}, 0, versionOf(v.Docs[1]))
	if err != nil {
		return false, err
	}
	err = e.commitName(ctx, store.Batch{
		Partition: p, Expect: []store.Expectation{store.DocAt{Key: key}}, Docs: []store.DocWrite{write},
	})
	return err == nil, err
}

// commitName commits a step of giving an id; losing a race is errAgain.
func (e *Engine) commitName(ctx context.Context, b store.Batch) error {
	_, err := e.store.Commit(ctx, b)
	if _, refused := errors.AsType[*store.Refused](err); refused {
		return errAgain
	}
	return storeError("reserve an id", err)
}

// release frees the id of something that was deleted. What fails here leaves a
// name that anybody may take over, so it is only logged.
func (e *Engine) release(ctx context.Context, key store.DocKey) {
	if e.parts == 1 {
		return
	}
	if err := e.free(ctx, key); err != nil && !errors.Is(err, errAgain) {
		e.log.WarnContext(ctx, "the id of something deleted stays reserved", "kind", key.Kind, "id", key.ID, "err", err)
	}
}

func (e *Engine) free(ctx context.Context, key store.DocKey) error {
	had, err := e.readName(ctx, key)
	if err != nil || had.site == "" {
		return err
	}
	vacant, err := e.vacate(ctx, key, had.site)
	if err != nil || !vacant {
		return err
	}
	// It is not deleted: its versions must go on, or somebody who has read the
	// old name could write over a new one of the same version.
	write, err := docWrite(store.DocName, nameKey(key).ID, "", nameRecord{}, 0, had.version)
	if err != nil {
		return err
	}
	return e.commitName(ctx, store.Batch{Docs: []store.DocWrite{write}})
}
