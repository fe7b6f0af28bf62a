package redistest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// patience is how long a command may take before its connection is given up.
const patience = 10 * time.Second

// ReplyError is an error that a server answered with, such as "LOADING …".
type ReplyError string

// Error is the answer as it came.
func (e ReplyError) Error() string { return string(e) }

// Conn is a connection to a server. It speaks RESP2, and after HELLO 3 as much
// of RESP3 as there is to see: a map and a push are lists. It is not safe for
// concurrent use.
type Conn struct {
	net net.Conn
	in  *bufio.Reader
}

// dialer opens a connection; net.Dialer's method is one.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// Dial connects to the server at an address.
func Dial(ctx context.Context, addr string) (*Conn, error) {
	return dialWith(ctx, (&net.Dialer{Timeout: patience}).DialContext, addr)
}

func dialWith(ctx context.Context, dial dialer, addr string) (*Conn, error) {
	c, err := dial(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Conn{net: c, in: bufio.NewReader(c)}, nil
}

// Close closes the connection.
func (c *Conn) Close() error { return c.net.Close() }

// Do sends a command and returns its reply. Any error but a ReplyError leaves
// the connection unusable.
func (c *Conn) Do(args ...any) (any, error) {
	replies, err := c.Pipe(args)
	if err != nil {
		return nil, err
	}
	if refused, ok := replies[0].(ReplyError); ok {
		return nil, refused
	}
	return replies[0], nil
}

// Pipe sends commands in one piece and returns the replies to all of them;
// those refused are ReplyErrors among the replies.
func (c *Conn) Pipe(commands ...[]any) ([]any, error) {
	var out []byte
	for _, args := range commands {
		out = appendCommand(out, args)
	}
	if err := c.net.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if _, err := c.net.Write(out); err != nil {
		return nil, err
	}
	replies := make([]any, len(commands))
	for i := range replies {
		reply, err := c.read()
		if err != nil {
			return nil, err
		}
		replies[i] = reply
	}
	return replies, nil
}

// Receive returns what the server sends next without being asked, such as a
// message on a subscribed channel.
func (c *Conn) Receive() (any, error) {
	if err := c.net.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	return c.read()
}

func appendCommand(out []byte, args []any) []byte {
	out = fmt.Appendf(out, "*%d\r\n", len(args))
	for _, arg := range args {
		var text []byte
		switch arg := arg.(type) {
		case []byte:
			text = arg
		default:
			text = fmt.Append(nil, arg)
		}
		out = fmt.Appendf(out, "$%d\r\n", len(text))
		out = append(append(out, text...), "\r\n"...)
	}
	return out
}

// read reads one reply: a string, an int64, a []any, a ReplyError or nil.
func (c *Conn) read() (any, error) {
	kind, text, err := readLine(c.in)
	if err != nil {
		return nil, err
	}
	switch kind {
	case '+':
		return text, nil
	case '-':
		return ReplyError(text), nil
	case ':':
		return strconv.ParseInt(text, 10, 64)
	case '_':
		return nil, nil //nolint:nilnil // nil is a reply
	case '$', '*', '~', '>', '%':
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, nil //nolint:nilnil // nil is a reply
		}
		if kind == '$' {
			body := make([]byte, n+2)
			_, err := io.ReadFull(c.in, body)
			return string(body[:n]), err
		}
		if kind == '%' {
			n *= 2 // keys and values
		}
		list := make([]any, n)
		for i := range list {
			if list[i], err = c.read(); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return nil, fmt.Errorf("a reply begins with %q", kind)
}

// readLine reads the line that every reply begins with.
func readLine(in *bufio.Reader) (kind byte, text string, err error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, "", err
	}
	if len(line) < 3 {
		return 0, "", errors.New("a reply of no bytes")
	}
	return line[0], line[1 : len(line)-2], nil
}
