// Command room works a counter: it calls, asks whether the person came, and
// completes or misses.
//
//	export DENGXU_KEY=…   # and DENGXU_URL, if it is not http://127.0.0.1:8080
//	go run ./examples/go/room 1
package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && dengxu.CodeOf(err) != dengxu.Canceled {
		fmt.Fprintln(os.Stderr, "room:", err)
		if dengxu.CodeOf(err) == dengxu.Unauthenticated {
			fmt.Fprintln(os.Stderr, "  give the server's key in DENGXU_KEY")
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return dengxu.Errorf(dengxu.Invalid, "usage: room COUNTER")
	}
	c, err := client.New(client.Options{URL: cmp.Or(os.Getenv("DENGXU_URL"), "http://127.0.0.1:8080"), Key: os.Getenv("DENGXU_KEY")})
	if err != nil {
		return err
	}
	keys := bufio.NewScanner(os.Stdin)
	room := c.Counter(dengxu.CounterID(args[0])) // Next keeps one idempotency key until it has a definite answer
	for {
		t, err := room.Next(ctx) // waits for a person; after a restart it takes over the one that is here
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "%s %s, please. Here? [Y/n] ", t.Number, t.Name)
		if !keys.Scan() {
			_, err = room.Requeue(context.WithoutCancel(ctx), t) // the shift is over: back to the own place
			return err
		}
		finish := room.Complete
		if strings.HasPrefix(strings.ToLower(keys.Text()), "n") {
			finish = room.Miss
		}
		if _, err := finish(ctx, t); err != nil && dengxu.CodeOf(err) != dengxu.Conflict {
			return err
		}
	}
}
