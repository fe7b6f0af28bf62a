package client

import (
	"context"
	"net/http"

	"github.com/dengxu/dengxu"
)

// Act does one of the operator's verbs on a token and returns the token after
// it: recall, start, complete, miss, requeue, hold, resume, transfer,
// reinstate, move, cancel, abandon, undo. A version in req makes it a conflict
// when the token has changed since. Conflict carries the token as it is now.
func (c *Client) Act(ctx context.Context, verb dengxu.Verb, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.verb(ctx, "/token/"+escape(t)+"/"+string(verb), req)
}

// verb posts to a path that answers with the token after it.
func (c *Client) verb(ctx context.Context, path string, req dengxu.VerbRequest) (dengxu.Token, error) {
	var after dengxu.Token
	_, err := c.do(ctx, post(path, req), &after)
	return after, err
}

// Recall announces a called token again.
func (c *Client) Recall(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.Act(ctx, dengxu.VerbRecall, t, req)
}

// Start begins the service of a called token.
func (c *Client) Start(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.Act(ctx, dengxu.VerbStart, t, req)
}

// Complete ends the service of a called or served token.
func (c *Client) Complete(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.Act(ctx, dengxu.VerbComplete, t, req)
}

// Miss says that a called person did not come.
func (c *Client) Miss(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.Act(ctx, dengxu.VerbMiss, t, req)
}

// Requeue puts a called or served token back to its place in line.
func (c *Client) Requeue(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.Act(ctx, dengxu.VerbRequeue, t, req)
}

// Hold parks a called or served token at its counter.
func (c *Client) Hold(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.Act(ctx, dengxu.VerbHold, t, req)
}

// Resume goes on with a held token.
func (c *Client) Resume(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.Act(ctx, dengxu.VerbResume, t, req)
}

// Transfer sends a token to another queue of its site: QueueID, Class, Place.
func (c *Client) Transfer(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.Act(ctx, dengxu.VerbTransfer, t, req)
}

// Reinstate brings back a missed token to Place.
func (c *Client) Reinstate(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.Act(ctx, dengxu.VerbReinstate, t, req)
}

// Move gives a waiting token another Place, which needs the right move and a
// reason.
func (c *Client) Move(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.Act(ctx, dengxu.VerbMove, t, req)
}

// Cancel ends a token without service, as the operator; CancelTicket is the
// holder's.
func (c *Client) Cancel(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.Act(ctx, dengxu.VerbCancel, t, req)
}

// Abandon records that the person went away.
func (c *Client) Abandon(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.Act(ctx, dengxu.VerbAbandon, t, req)
}

// Undo takes back the last complete, miss, cancel or transfer.
func (c *Client) Undo(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.Act(ctx, dengxu.VerbUndo, t, req)
}

// Edit changes what a token says of its holder; its place stays.
func (c *Client) Edit(ctx context.Context, t dengxu.TokenID, edit dengxu.TokenEdit) (dengxu.Token, error) {
	var after dengxu.Token
	_, err := c.do(ctx, request{method: http.MethodPatch, path: "/token/" + escape(t), body: edit}, &after)
	return after, err
}
