package engine

import (
	"context"
	"encoding/json"
	"github.com/dengxu/dengxu"
)

// Temporary signatures; each moves into its use-case file.

// settings. ifMatch 0 = not given. Patches are RFC 7396 merge patches.
func (e *Engine) PutSite(ctx context.Context, by By, id dengxu.SiteID, s dengxu.Site, ifMatch uint64) (Done[dengxu.SiteView], error) {
	panic("stub")
}
func (e *Engine) PatchSite(ctx context.Context, by By, id dengxu.SiteID, patch json.RawMessage, ifMatch uint64) (Done[dengxu.SiteView], error) {
	panic("stub")
}
func (e *Engine) DeleteSite(ctx context.Context, by By, id dengxu.SiteID, ifMatch uint64) error {
	panic("stub")
}
func (e *Engine) Site(ctx context.Context, id dengxu.SiteID) (dengxu.SiteView, error) { panic("stub") }
func (e *Engine) Sites(ctx context.Context) ([]dengxu.SiteView, error)                { panic("stub") }
func (e *Engine) PutQueue(ctx context.Context, by By, id dengxu.QueueID, q dengxu.Queue, ifMatch uint64) (Done[dengxu.QueueView], error) {
	panic("stub")
}
func (e *Engine) PatchQueue(ctx context.Context, by By, id dengxu.QueueID, patch json.RawMessage, ifMatch uint64) (Done[dengxu.QueueView], error) {
	panic("stub")
}
func (e *Engine) DeleteQueue(ctx context.Context, by By, id dengxu.QueueID, ifMatch uint64) error {
	panic("stub")
}
func (e *Engine) Queue(ctx context.Context, id dengxu.QueueID) (dengxu.QueueView, error) {
	panic("stub")
}
func (e *Engine) Queues(ctx context.Context, s dengxu.SiteID) ([]dengxu.QueueView, error) {
	panic("stub")
} // s "" = all
func (e *Engine) PutCounter(ctx context.Context, by By, id dengxu.CounterID, c dengxu.Counter, ifMatch uint64) (Done[dengxu.CounterView], error) {
	panic("stub")
}
func (e *Engine) PatchCounter(ctx context.Context, by By, id dengxu.CounterID, patch json.RawMessage, ifMatch uint64) (Done[dengxu.CounterView], error) {
	panic("stub")
}
func (e *Engine) DeleteCounter(ctx context.Context, by By, id dengxu.CounterID, ifMatch uint64) error {
	panic("stub")
}
func (e *Engine) Counter(ctx context.Context, id dengxu.CounterID) (dengxu.CounterView, error) {
	panic("stub")
}
func (e *Engine) Counters(ctx context.Context, s dengxu.SiteID) ([]dengxu.CounterView, error) {
	panic("stub")
}

// Door moves a queue's door: open, pause, close.
func (e *Engine) SetCounterState(ctx context.Context, by By, c dengxu.CounterID, action string, req dengxu.DoorRequest) (Done[dengxu.CounterView], error) {
	panic("stub")
}

// keys.
func (e *Engine) PutKey(ctx context.Context, by By, id dengxu.KeyID, k dengxu.Key, ifMatch uint64) (Done[dengxu.KeyView], error) {
	panic("stub")
}
func (e *Engine) DeleteKey(ctx context.Context, by By, id dengxu.KeyID, ifMatch uint64) error {
	panic("stub")
}
func (e *Engine) Key(ctx context.Context, id dengxu.KeyID) (dengxu.KeyView, error) { panic("stub") }
func (e *Engine) Keys(ctx context.Context) ([]dengxu.KeyView, error)               { panic("stub") }

// Authenticate finds the key of a secret ("dx_<id>_<random>"): Unauthenticated when unknown or expired.
func (e *Engine) Authenticate(secret string) (dengxu.KeyView, error) { panic("stub") }

// SetAdminSecret stores the key "admin" with this secret (DENGXU_ADMIN_KEY), or makes one when "" and none exists; made is "" when nothing new was made.
func (e *Engine) SetAdminSecret(ctx context.Context, secret string) (made string, err error) {
	panic("stub")
}

// QueueSite and CounterSite are for scope checks, from the cache: NotFound when unknown.
func (e *Engine) QueueSite(q dengxu.QueueID) (dengxu.SiteID, error)     { panic("stub") }
func (e *Engine) CounterSite(c dengxu.CounterID) (dengxu.SiteID, error) { panic("stub") }

// PublicJoin tells what a keyless join to q may send.
func (e *Engine) PublicJoin(q dengxu.QueueID) (dengxu.PublicJoin, error) { panic("stub") }
