package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
)

// Taking a number and following it to its end.
func ExampleClient_Watch() {
	ticket := func(ctx context.Context, url, key string) error {
		c, err := client.New(client.Options{URL: url, Key: key})
		if err != nil {
			return err
		}
		ticket, err := c.Join(ctx, "main", client.JoinRequest{BusinessID: "patient-42", Name: "Li Hua"})
		if err != nil {
			return err // dengxu.CodeOf(err): exists, closed, full, too_many …
		}
		for p, err := range c.Watch(ctx, ticket.ID) {
			if err != nil {
				return err
			}
			fmt.Println(p.Number, p.State, p.Ahead, p.Estimate, p.CounterName)
		}
		return nil
	}
	_ = ticket
}

// A counter that serves until its context ends.
func ExampleCounter_Next() {
	arrived := func(context.Context, *dengxu.Token) bool { return true }
	desk := func(ctx context.Context, c *client.Client) error {
		room := c.Counter("room-3")
		for {
			t, err := room.Next(ctx)
			if err != nil {
				return err
			}
			finish := room.Complete
			if !arrived(ctx, t) {
				finish = room.Miss
			}
			if _, err = finish(ctx, t); err != nil && dengxu.CodeOf(err) != dengxu.Conflict {
				return err
			}
		}
	}
	_ = desk
}

// Keeping a copy of what a site has: cursor first, then everything, then the
// changes.
func ExampleClient_Events() {
	readAll := func(context.Context, *client.Client) error { return nil }
	apply := func(dengxu.Event) {}
	mirror := func(ctx context.Context, c *client.Client) error {
		cursor, err := c.Cursor(ctx, "clinic")
		if err != nil {
			return err
		}
		if err := readAll(ctx, c); err != nil {
			return err
		}
		for e, err := range c.Events(ctx, "clinic", cursor) {
			if errors.Is(err, client.ErrReset) {
				if err := readAll(ctx, c); err != nil {
					return err
				}
				continue
			}
			if err != nil {
				return err
			}
			apply(e) // and keep e.ID: a restart goes on after it
		}
		return nil
	}
	_ = mirror
}

// Changing one setting without overwriting somebody else's change.
func ExampleClient_PatchQueue() {
	quota := func(ctx context.Context, c *client.Client) error {
		q, err := c.GetQueue(ctx, "internal")
		if err != nil {
			return err
		}
		_, err = c.PatchQueue(ctx, "internal", map[string]any{"daily_quota": q.DailyQuota + 10}, q.Version)
		return err // conflict when it changed in between
	}
	_ = quota
}
