package redisstore

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// address is what a store URL says.
type address struct {
	kind       string // redis, redis+cluster or redis+sentinel
	secure     bool
	hosts      []string // host:port
	user       string
	password   string
	master     string // the name that sentinels know
	db         int
	prefix     string
	partitions int
}

// maxPartitions is how many partitions an id of a token can name.
const maxPartitions = 256

// ParseURL reads where a store is:
//
//	redis://user:password@host:port/db
//	redis+sentinel://host:port,host:port/master/db
//	redis+cluster://host:port,host:port
//
// and the same with rediss for TLS. ?prefix= begins every key, and
// ?partitions= is how many a new store gets. The error never shows a password.
func ParseURL(raw string) (Options, error) {
	a, err := parse(raw)
	if err != nil {
		return Options{}, err
	}
	return Options{URL: raw, Prefix: a.prefix, Partitions: a.partitions}, nil
}

// Shown is a store URL without its password.
func Shown(raw string) string {
	scheme, rest, _ := strings.Cut(raw, "://")
	authority, path := split(rest)
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, _, _ := strings.Cut(authority[:i], ":")
		authority = user + ":…" + authority[i:]
	}
	return scheme + "://" + authority + path
}

// split parts user and hosts from what follows them.
func split(rest string) (authority, path string) {
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return rest[:i], rest[i:]
	}
	return rest, ""
}

func parse(raw string) (a address, err error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	a.kind, a.secure = scheme, strings.HasPrefix(scheme, "rediss")
	if a.secure {
		a.kind = "redis" + strings.TrimPrefix(scheme, "rediss")
	}
	if !ok {
		return a, errors.New("redis url: it begins with redis://, redis+cluster:// or redis+sentinel://")
	}
	if !slices.Contains([]string{"redis", "redis+cluster", "redis+sentinel"}, a.kind) {
		return a, fmt.Errorf("redis url: scheme %q is none of redis, redis+cluster, redis+sentinel, or these with rediss", scheme)
	}
	authority, path := split(rest)
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		if err := a.credentials(authority[:i]); err != nil {
			return a, err
		}
		authority = authority[i+1:]
	}
	if err := a.servers(authority); err != nil {
		return a, err
	}
	path, query, _ := strings.Cut(path, "?")
	if err := a.within(strings.Split(strings.Trim(path, "/"), "/")); err != nil {
		return a, err
	}
	return a, a.parameters(query)
}

// credentials reads user:password, both percent-encoded.
func (a *address) credentials(text string) (err error) {
	user, password, _ := strings.Cut(text, ":")
	a.user, err = url.PathUnescape(user)
	if err == nil {
		a.password, err = url.PathUnescape(password)
	}
	if err != nil {
		return errors.New("redis url: user or password is not percent-encoded as it must be")
	}
	return nil
}

// servers reads host:port, several with commas between them. A host alone has
// the port of a server or a sentinel.
func (a *address) servers(text string) error {
	port := "6379"
	if a.kind == "redis+sentinel" {
		port = "26379"
	}
	for host := range strings.SplitSeq(text, ",") {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		name, p, err := net.SplitHostPort(host)
		if n, wrong := strconv.ParseUint(p, 10, 16); err != nil || wrong != nil || n == 0 || name == "" {
			return fmt.Errorf("redis url: %q is not a host and a port", host)
		}
		a.hosts = append(a.hosts, host)
	}
	if a.kind == "redis" && len(a.hosts) > 1 {
		return errors.New("redis url: several hosts need redis+cluster or redis+sentinel")
	}
	return nil
}

// within reads the path: the master's name for sentinels, and a database.
func (a *address) within(path []string) error {
	if path[0] == "" {
		path = nil
	}
	if a.kind == "redis+sentinel" {
		if len(path) == 0 {
			return errors.New("redis url: which master? redis+sentinel://host:port,host:port/NAME")
		}
		a.master, path = path[0], path[1:]
	}
	switch {
	case len(path) == 0:
		return nil
	case a.kind == "redis+cluster":
		return errors.New("redis url: a cluster has no databases to choose from")
	}
	n, err := strconv.ParseUint(path[0], 10, 16)
	if err != nil || len(path) > 1 {
		return fmt.Errorf("redis url: %q is not the number of a database", strings.Join(path, "/"))
	}
	a.db = int(n)
	return nil
}

// parameters reads what follows the question mark.
func (a *address) parameters(query string) error {
	given, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("redis url: what follows ? is not key=value")
	}
	for key, values := range given {
		value := values[len(values)-1]
		switch key {
		case "prefix":
			if strings.ContainsAny(value, "{}") || len(value) > 64 || value == "" {
				return fmt.Errorf("redis url: prefix %q: 1 to 64 bytes, no braces", value)
			}
			a.prefix = value
		case "partitions":
			n, err := strconv.ParseUint(value, 10, 16)
			if err != nil || n == 0 || n > maxPartitions {
				return fmt.Errorf("redis url: partitions %q: 1 to %d", value, maxPartitions)
			}
			a.partitions = int(n)
		default:
			return fmt.Errorf("redis url: unknown parameter %s", key)
		}
	}
	return nil
}

// client is how the client reaches it.
func (a *address) client() rueidis.ClientOption {
	o := rueidis.ClientOption{InitAddress: a.hosts, Username: a.user, Password: a.password, SelectDB: a.db}
	if a.secure {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	switch a.kind {
	case "redis":
		o.ForceSingleClient = true
	case "redis+sentinel":
		o.Sentinel = rueidis.SentinelOption{
			MasterSet: a.master, TLSConfig: o.TLSConfig,
			Dialer: net.Dialer{Timeout: dialing, KeepAlive: time.Second}, TopologyRefreshInterval: 2 * time.Second,
		}
	}
	return o
}
