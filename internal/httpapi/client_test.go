package httpapi

import (
	"context"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
)

// TestGoClient plays a visit through the Go client: what it sends is what the
// routes take, and what it reads is what they answer.
func TestGoClient(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := client.New(client.Options{URL: r.url, Key: r.keys["operator@hall"], HTTP: r.client})
	if err != nil {
		t.Fatal(err)
	}
	room := c.Counter("1")
	called := make(chan *dengxu.Token, 1)
	go func() {
		tok, err := room.Next(ctx) // nobody is there yet
		if err != nil {
			t.Error(err)
		}
		called <- tok
	}()
	ticket, err := c.Join(ctx, "main", client.JoinRequest{BusinessID: "patient-42", Name: "Li Hua"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Join(ctx, "main", client.JoinRequest{BusinessID: "patient-42"}); dengxu.CodeOf(err) != dengxu.Exists {
		t.Errorf("a second join: %v", err)
	}
	tok := <-called
	if tok == nil || tok.ID != ticket.ID {
		t.Fatalf("called %v, joined %s", tok, ticket.ID)
	}
	if tok, err = room.Start(ctx, tok); err != nil {
		t.Fatal(err)
	}
	var states []dengxu.State
	for p, err := range c.Watch(ctx, ticket.ID) {
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, p.State)
		if p.State == dengxu.StateServing {
			if _, err := room.Complete(ctx, tok); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(states); n < 2 || states[n-1] != dengxu.StateCompleted {
		t.Errorf("watched %v", states)
	}
	if _, err := c.Rate(ctx, ticket.ID, 5); err != nil {
		t.Error(err)
	}
	if h, err := c.History(ctx, ticket.ID); err != nil || len(h.Spans) < 3 {
		t.Errorf("history %v, %v", h.Spans, err)
	}
	if page, err := c.SiteTokens(ctx, "hall", dengxu.TokenFilter{States: []dengxu.State{dengxu.StateCompleted}, Text: "Li"}); err != nil || len(page.Items) != 1 {
		t.Errorf("search %v, %v", page.Items, err)
	}
	if _, err := c.Stats(ctx, "main", client.StatsRange{Bucket: time.Hour}); err != nil {
		t.Error(err)
	}
	if _, err := c.Estimate(ctx, "main", client.JoinRequest{PartySize: 2}); err != nil {
		t.Error(err)
	}
	if queues, err := c.Queues(ctx, "hall"); err != nil || len(queues) != 4 {
		t.Errorf("%d queues, %v", len(queues), err)
	}
}
