package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
)

// silence is how long a stream may be quiet before it counts as dead. Servers
// send a comment every 15 s.
const silence = 45 * time.Second

// maxLine bounds one line of a stream.
const maxLine = 1 << 20

// message is one server-sent event.
type message struct {
	id    string
	event string
	data  string
}

// errNoStream means that the server, or a proxy, does not answer with a stream.
var errNoStream = errors.New("not an event stream")

// stream opens path and yields its messages. It always ends with an error:
// io.EOF when the server ended it, a *dengxu.Error when it refused.
func (c *Client) stream(ctx context.Context, path string, query url.Values, after string) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		quiet := time.AfterFunc(c.timeout, cancel)
		defer quiet.Stop()
		req, err := c.newRequest(ctx, get(path, query), nil)
		if err != nil {
			yield(message{}, err)
			return
		}
		req.Header.Set("Accept", "text/event-stream")
		if after != "" {
			req.Header.Set("Last-Event-ID", after)
		}
		resp, err := c.http.Do(req)
		if err != nil {
			yield(message{}, asError(dengxu.Unavailable, "open the stream", err))
			return
		}
		defer resp.Body.Close()
		if resp.StatusCode >= 400 {
			yield(message{}, readProblem(resp))
			return
		}
		if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
			yield(message{}, errNoStream)
			return
		}
		heard := func() { quiet.Reset(silence) }
		heard()
		readMessages(resp.Body, heard, yield)
	}
}

// readMessages parses the event stream format of the HTML standard and calls
// heard at every line, comments too.
func readMessages(r io.Reader, heard func(), yield func(message, error) bool) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	var m message
	var data []string
	for lines.Scan() {
		heard()
		line := lines.Text()
		if line == "" {
			// An id without data moves the position of a quiet stream.
			if len(data) > 0 || m.id != "" {
				m.data = strings.Join(data, "\n")
				if !yield(m, nil) {
					return
				}
			}
			m, data = message{}, nil
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			m.id = value
		case "event":
			m.event = value
		case "data":
			data = append(data, value)
		}
	}
	err := lines.Err()
	if err == nil {
		err = io.EOF
	}
	yield(message{}, err)
}

// lasting reports whether a failed stream or read is the server's decision, so
// that trying again would not help.
func lasting(err error) bool {
	switch dengxu.CodeOf(err) {
	case dengxu.Unauthenticated, dengxu.Forbidden, dengxu.NotFound, dengxu.Invalid:
		return true
	case dengxu.Exists, dengxu.Conflict, dengxu.Closed, dengxu.Full, dengxu.TooMany,
		dengxu.Internal, dengxu.Unavailable, dengxu.Deadline, dengxu.Canceled:
		return false
	}
	return false
}
