package app

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
)

// What an empty store gets, so that the first number can be taken at once.
const (
	firstSite    dengxu.SiteID    = "main"
	firstQueue   dengxu.QueueID   = "main"
	firstCounter dengxu.CounterID = "1"
	firstService                  = 300 // seconds a person, until there is data
)

// First tells what the start made.
type First struct {
	// AdminKey is the secret of the admin key if one was made: shown once.
	AdminKey string
	// Site is set when the store was empty and got a site, a queue and a
	// counter.
	Site dengxu.SiteID
	Zone string // of Site
	// Warnings are what Site's settings could do that was perhaps not meant,
	// such as a machine's zone of UTC.
	Warnings []string
	Queue    dengxu.QueueID
	Counter  dengxu.CounterID
}

// firstStart makes sure that there is an admin key, and fills an empty store
// unless it is to stay bare.
func firstStart(ctx context.Context, e *engine.Engine, o Options) (First, error) {
	made, err := e.SetAdminSecret(ctx, o.AdminKey)
	if err != nil {
		return First{}, fmt.Errorf("admin key: %w", err)
	}
	first := First{AdminKey: made}
	if o.Bare {
		return first, nil
	}
	sites, err := e.Sites(ctx)
	if err != nil {
		return first, fmt.Errorf("read sites: %w", err)
	}
	if len(sites) > 0 {
		return first, nil
	}
	err = fill(ctx, e, &first)
	if code := dengxu.CodeOf(err); code == dengxu.Conflict || code == dengxu.Exists {
		return First{AdminKey: made}, nil // another server over the same store does it
	}
	return first, err
}

// fill makes a site, a queue and a counter.
func fill(ctx context.Context, e *engine.Engine, first *First) error {
	first.Site, first.Queue, first.Counter = firstSite, firstQueue, firstCounter
	by := engine.By{Kind: engine.Admin, Name: "first start"}
	site, err := e.PutSite(ctx, by, firstSite, dengxu.Site{}, 0) // in the machine's zone
	if err != nil {
		return fmt.Errorf("first site: %w", err)
	}
	first.Zone, first.Warnings = site.Value.TimeZone, site.Value.Warnings
	queue := dengxu.Queue{
		Site: firstSite, ExpectedServiceSeconds: firstService,
		PublicJoin: &dengxu.PublicJoin{Loopback: true},
	}
	if _, err := e.PutQueue(ctx, by, firstQueue, queue, 0); err != nil {
		return fmt.Errorf("first queue: %w", err)
	}
	counter := dengxu.Counter{Site: firstSite, Queues: []dengxu.CounterQueue{{ID: firstQueue}}}
	if _, err := e.PutCounter(ctx, by, firstCounter, counter, 0); err != nil {
		return fmt.Errorf("first counter: %w", err)
	}
	return nil
}

// newAdminSecret replaces the secret of the admin key by a new random one.
func newAdminSecret(ctx context.Context, e *engine.Engine) (string, error) {
	secret := "dx_admin_" + rand.Text()
	if _, err := e.SetAdminSecret(ctx, secret); err != nil {
		return "", fmt.Errorf("admin key: %w", err)
	}
	return secret, nil
}
