package client

import (
	"context"

	"github.com/dengxu/dengxu"
)

// CancelTicket gives a place up, as its holder.
func (c *Client) CancelTicket(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Position, error) {
	return c.holder(ctx, dengxu.VerbCancel, t, req)
}

// Defer steps back for the queue's defer time and keeps the place: conflict,
// reason defer_max, when that was done often enough.
func (c *Client) Defer(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Position, error) {
	return c.holder(ctx, dengxu.VerbDefer, t, req)
}

// CheckIn says that the holder is there.
func (c *Client) CheckIn(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Position, error) {
	return c.holder(ctx, dengxu.VerbCheckIn, t, req)
}

// Confirm says that the called holder is coming.
func (c *Client) Confirm(ctx context.Context, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Position, error) {
	return c.holder(ctx, dengxu.VerbConfirm, t, req)
}

// Rate gives a completed service 1 to 5 stars, once.
func (c *Client) Rate(ctx context.Context, t dengxu.TokenID, stars int) (dengxu.Position, error) {
	return c.holder(ctx, dengxu.VerbRate, t, dengxu.VerbRequest{Stars: stars})
}

// holder does a holder's verb and returns the position after it.
func (c *Client) holder(ctx context.Context, verb dengxu.Verb, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Position, error) {
	var p dengxu.Position
	_, err := c.do(ctx, post("/queue/token/"+escape(t)+"/"+string(verb), req), &p)
	return p, err
}
