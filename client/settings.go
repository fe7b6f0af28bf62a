package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/dengxu/dengxu"
)

// Settings are replaced by Put, merged by Patch (RFC 7396: any value that
// encodes as a JSON object) and removed by Delete. ifMatch is the version that
// the caller saw: another one there now is a conflict; 0 does not check.

// PutSite makes or replaces a site's settings.
func (c *Client) PutSite(ctx context.Context, id dengxu.SiteID, s dengxu.Site, ifMatch uint64) (dengxu.SiteView, error) {
	return write[dengxu.SiteView](ctx, c, http.MethodPut, "/site/"+escape(id), s, ifMatch)
}

// PatchSite merges a patch into a site's settings.
func (c *Client) PatchSite(ctx context.Context, id dengxu.SiteID, patch any, ifMatch uint64) (dengxu.SiteView, error) {
	return write[dengxu.SiteView](ctx, c, http.MethodPatch, "/site/"+escape(id), patch, ifMatch)
}

// GetSite returns a site's settings in force and its running state.
func (c *Client) GetSite(ctx context.Context, id dengxu.SiteID) (dengxu.SiteView, error) {
	return read[dengxu.SiteView](ctx, c, "/site/"+escape(id), nil)
}

// DeleteSite removes a site without queues and counters: conflict, reason
// in_use, otherwise.
func (c *Client) DeleteSite(ctx context.Context, id dengxu.SiteID, ifMatch uint64) error {
	return c.remove(ctx, "/site/"+escape(id), ifMatch)
}

// Sites returns every site in the key's scope.
func (c *Client) Sites(ctx context.Context) ([]dengxu.SiteView, error) {
	return readAll[dengxu.SiteView](ctx, c, "/sites", nil)
}

// PutQueue makes or replaces a queue's settings.
func (c *Client) PutQueue(ctx context.Context, id dengxu.QueueID, q dengxu.Queue, ifMatch uint64) (dengxu.QueueView, error) {
	return write[dengxu.QueueView](ctx, c, http.MethodPut, "/queue/"+escape(id), q, ifMatch)
}

// PatchQueue merges a patch into a queue's settings.
func (c *Client) PatchQueue(ctx context.Context, id dengxu.QueueID, patch any, ifMatch uint64) (dengxu.QueueView, error) {
	return write[dengxu.QueueView](ctx, c, http.MethodPatch, "/queue/"+escape(id), patch, ifMatch)
}

// GetQueue returns a queue's settings in force and its running state.
func (c *Client) GetQueue(ctx context.Context, id dengxu.QueueID) (dengxu.QueueView, error) {
	return read[dengxu.QueueView](ctx, c, "/queue/"+escape(id), nil)
}

// DeleteQueue removes a queue: conflict, reason in_use, while it has tokens or
// a counter names it.
func (c *Client) DeleteQueue(ctx context.Context, id dengxu.QueueID, ifMatch uint64) error {
	return c.remove(ctx, "/queue/"+escape(id), ifMatch)
}

// Queues returns the queues of a site, or with "" every queue in the key's scope.
func (c *Client) Queues(ctx context.Context, s dengxu.SiteID) ([]dengxu.QueueView, error) {
	return readAll[dengxu.QueueView](ctx, c, "/queues", ofSite(s))
}

// OpenQueue opens a queue's door: join and call.
func (c *Client) OpenQueue(ctx context.Context, id dengxu.QueueID) (dengxu.QueueView, error) {
	return c.door(ctx, id, "open", dengxu.DoorRequest{})
}

// PauseQueue lets nobody in and calls nobody, with a reason for people.
func (c *Client) PauseQueue(ctx context.Context, id dengxu.QueueID, reason string) (dengxu.QueueView, error) {
	return c.door(ctx, id, "pause", dengxu.DoorRequest{Reason: reason})
}

// CloseQueue lets nobody in; it is closed once it is empty, or at once with
// req.Now.
func (c *Client) CloseQueue(ctx context.Context, id dengxu.QueueID, req dengxu.DoorRequest) (dengxu.QueueView, error) {
	return c.door(ctx, id, "close", req)
}

func (c *Client) door(ctx context.Context, id dengxu.QueueID, action string, req dengxu.DoorRequest) (dengxu.QueueView, error) {
	return write[dengxu.QueueView](ctx, c, http.MethodPost, "/queue/"+escape(id)+"/"+action, req, 0)
}

// PutCounter makes or replaces a counter's settings.
func (c *Client) PutCounter(ctx context.Context, id dengxu.CounterID, k dengxu.Counter, ifMatch uint64) (dengxu.CounterView, error) {
	return write[dengxu.CounterView](ctx, c, http.MethodPut, "/counter/"+escape(id), k, ifMatch)
}

// PatchCounter merges a patch into a counter's settings.
func (c *Client) PatchCounter(ctx context.Context, id dengxu.CounterID, patch any, ifMatch uint64) (dengxu.CounterView, error) {
	return write[dengxu.CounterView](ctx, c, http.MethodPatch, "/counter/"+escape(id), patch, ifMatch)
}

// GetCounter returns a counter's settings in force, its state and its tokens.
func (c *Client) GetCounter(ctx context.Context, id dengxu.CounterID) (dengxu.CounterView, error) {
	return read[dengxu.CounterView](ctx, c, "/counter/"+escape(id), nil)
}

// DeleteCounter removes a counter: conflict, reason in_use, while it has tokens.
func (c *Client) DeleteCounter(ctx context.Context, id dengxu.CounterID, ifMatch uint64) error {
	return c.remove(ctx, "/counter/"+escape(id), ifMatch)
}

// Counters returns the counters of a site, or with "" every counter in the
// key's scope.
func (c *Client) Counters(ctx context.Context, s dengxu.SiteID) ([]dengxu.CounterView, error) {
	return readAll[dengxu.CounterView](ctx, c, "/counters", ofSite(s))
}

// OpenCounter lets a counter call.
func (c *Client) OpenCounter(ctx context.Context, id dengxu.CounterID) (dengxu.CounterView, error) {
	return c.counterState(ctx, id, "open", dengxu.DoorRequest{})
}

// PauseCounter makes a counter refuse to call, with a reason for people.
func (c *Client) PauseCounter(ctx context.Context, id dengxu.CounterID, reason string) (dengxu.CounterView, error) {
	return c.counterState(ctx, id, "pause", dengxu.DoorRequest{Reason: reason})
}

// CloseCounter closes a counter. With tokens it is a conflict, unless current
// says what becomes of them: complete, miss, requeue or hold.
func (c *Client) CloseCounter(ctx context.Context, id dengxu.CounterID, current string) (dengxu.CounterView, error) {
	return c.counterState(ctx, id, "close", dengxu.DoorRequest{Current: current})
}

func (c *Client) counterState(ctx context.Context, id dengxu.CounterID, action string, req dengxu.DoorRequest) (dengxu.CounterView, error) {
	return write[dengxu.CounterView](ctx, c, http.MethodPost, "/counter/"+escape(id)+"/"+action, req, 0)
}

// PutKey makes or replaces an API key. Secret is in the answer that made it,
// and never again.
func (c *Client) PutKey(ctx context.Context, id dengxu.KeyID, k dengxu.Key, ifMatch uint64) (dengxu.KeyView, error) {
	return write[dengxu.KeyView](ctx, c, http.MethodPut, "/key/"+escape(id), k, ifMatch)
}

// GetKey returns a key without its secret.
func (c *Client) GetKey(ctx context.Context, id dengxu.KeyID) (dengxu.KeyView, error) {
	return read[dengxu.KeyView](ctx, c, "/key/"+escape(id), nil)
}

// DeleteKey makes a key unknown at once.
func (c *Client) DeleteKey(ctx context.Context, id dengxu.KeyID, ifMatch uint64) error {
	return c.remove(ctx, "/key/"+escape(id), ifMatch)
}

// Keys returns every key without its secret.
func (c *Client) Keys(ctx context.Context) ([]dengxu.KeyView, error) {
	return readAll[dengxu.KeyView](ctx, c, "/keys", nil)
}

func ofSite(s dengxu.SiteID) url.Values {
	query := url.Values{}
	set(query, "site", string(s))
	return query
}

// write sends a body that answers with a view.
func write[T any](ctx context.Context, c *Client, method, path string, body any, ifMatch uint64) (T, error) {
	var v T
	_, err := c.do(ctx, request{method: method, path: path, body: body, ifMatch: ifMatch}, &v)
	return v, err
}

func (c *Client) remove(ctx context.Context, path string, ifMatch uint64) error {
	_, err := c.do(ctx, request{method: http.MethodDelete, path: path, ifMatch: ifMatch}, nil)
	return err
}
