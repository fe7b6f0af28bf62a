package client

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
)

// Options say which server to speak to and how patiently. Only URL is required.
type Options struct {
	// URL is the address of the server, such as "https://queue.example".
	URL string
	// Key is an API key. Without one only holders' operations and public
	// joins are answered.
	Key string
	// HTTP carries the requests; nil takes a client of its own. A Timeout in
	// it also cuts streams and long polls, which then reconnect.
	HTTP *http.Client
	// Language is sent as Accept-Language, for messages; "" sends none.
	Language string
	// Attempts is how often one request is sent at most; 0 = 5.
	Attempts int
	// Budget is how long after the first failure a repeat may still begin;
	// 0 = 30 s.
	Budget time.Duration
	// Timeout bounds one attempt, beside the time that a long poll asks for;
	// 0 = 15 s.
	Timeout time.Duration
}

// Client speaks to one server with one key. It is safe for concurrent use and
// needs no closing.
type Client struct {
	base     string
	key      string
	language string
	http     *http.Client
	attempts int
	budget   time.Duration
	timeout  time.Duration
}

// New builds a client without speaking to the server. A URL that is not an
// absolute http or https address is Invalid, field url.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, dengxu.Fieldf(dengxu.Invalid, "url", "%q is not an http or https address", o.URL)
	}
	if u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, dengxu.Fieldf(dengxu.Invalid, "url", "%q must be a plain address, without user, query or fragment", u.Redacted())
	}
	c := &Client{
		base: strings.TrimRight(u.String(), "/"), key: o.Key, language: o.Language, http: o.HTTP,
		attempts: cmp.Or(o.Attempts, 5),
		budget:   cmp.Or(o.Budget, 30*time.Second),
		timeout:  cmp.Or(o.Timeout, 15*time.Second),
	}
	if c.http == nil {
		c.http = &http.Client{Transport: newTransport()}
	}
	return c, nil
}

// newTransport is the default transport with as many idle connections to the
// one server as a busy program uses: the default of two would open a new
// connection for nearly every request of 64 callers.
func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 256
	return t
}

// URL returns the address of the server, without a slash at its end.
func (c *Client) URL() string { return c.base }

type contextKey struct{}

// WithKey makes the one changing request that is made with the returned
// context carry this idempotency key instead of a new one. It is for programs
// that record what they are about to do and repeat it after a crash. Another
// request with the same key is refused by the server: invalid, reason
// idempotency_key_reused.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, contextKey{}, key)
}
