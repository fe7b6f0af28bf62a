// Command ticket takes a number in a queue and follows it until the visit is
// over.
//
//	export DENGXU_KEY=…   # and DENGXU_URL, if it is not http://127.0.0.1:8080
//	go run ./examples/go/ticket main
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ticket:", err)
		if dengxu.CodeOf(err) == dengxu.Unauthenticated {
			fmt.Fprintln(os.Stderr, "  give the server's key in DENGXU_KEY")
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return dengxu.Errorf(dengxu.Invalid, "usage: ticket QUEUE")
	}
	c, err := client.New(client.Options{URL: cmp.Or(os.Getenv("DENGXU_URL"), "http://127.0.0.1:8080"), Key: os.Getenv("DENGXU_KEY")})
	if err != nil {
		return err
	}
	ticket, err := c.Join(ctx, dengxu.QueueID(args[0]), client.JoinRequest{Name: "Li Hua"})
	if err != nil {
		return err // dengxu.CodeOf(err): exists, closed, full, too_many …
	}
	for p, err := range c.Watch(ctx, ticket.ID) { // reconnects; ends at a final state
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "%s %s, ahead: %s %s\n", p.Number, p.State, p.Ahead, p.CounterName)
	}
	return nil
}
