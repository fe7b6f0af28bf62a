package redisstore

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu/internal/store"
)

// explain says in plain words why a connection did not come about, and what to
// write into the URL. It is store.ErrUnavailable when trying again may help.
func (a *address) explain(err error) error {
	if word, hint := a.hint(err); word != "" && hint != "" {
		return fmt.Errorf("connect to redis: %s (%s)", hint, word)
	} else if hint != "" {
		return fmt.Errorf("connect to redis: %s: %w", hint, err)
	}
	lead := ""
	switch text := err.Error(); {
	case a.secure && strings.Contains(text, "deadline exceeded"):
		lead = "nothing answers over TLS (without TLS the URL begins with redis, not rediss): "
	case !a.secure && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(text, "reset by peer")):
		lead = "the server ended the connection (with TLS the URL begins with rediss): "
	}
	return fmt.Errorf("connect to redis: %s%w: %w", lead, err, store.ErrUnavailable)
}

// tlsAlert is the first byte of what a TLS server answers to a greeting that is
// none: the record type "alert".
const tlsAlert = "unknown message type: 21"

// hint is what is wrong with the URL, or "" when it may be right, and the first
// word of what Redis said, whose other words are about its protocol.
func (a *address) hint(err error) (word, hint string) {
	if e, ok := rueidis.IsRedisErr(err); ok {
		word, _, _ = strings.Cut(e.Error(), " ")
	}
	text := err.Error()
	switch {
	case word == "NOAUTH":
		return word, "it wants a password, as in redis://:PASSWORD@host or redis://USER:PASSWORD@host"
	case word == "WRONGPASS":
		return word, "user or password is wrong"
	case word == "NOPERM":
		return word, "this user may not do what is needed"
	case strings.Contains(text, "unknown command 'SENTINEL'"):
		return "", "no Sentinel is there but a Redis; one server is redis://host:port"
	case strings.Contains(text, "No such master"):
		return "", fmt.Sprintf("Sentinel knows no master %q", a.master)
	case strings.Contains(text, "first record does not look like a TLS handshake"):
		return "", "no TLS is spoken there; without TLS the URL begins with redis, not rediss"
	case strings.Contains(text, tlsAlert):
		return "", "TLS is spoken there; the URL begins with rediss then"
	case rueidis.IsParseErr(err), strings.Contains(text, "unknown message type"):
		return "", "no Redis is there: the answer is not one of Redis"
	}
	return "", ""
}
