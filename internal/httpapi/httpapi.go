// Package httpapi is the HTTP face of the engine: one table of routes from
// which registration, the check of roles, the documentation and the security
// test come, one adapter for all handlers, and one table from codes to status.
// It owns credentials, scopes, limits and the shape of answers, and refuses
// any rule about waiting lines.
package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/feed"
)

// Options are what the API is made of. Zero values take the defaults.
type Options struct {
	Engine *engine.Engine // required
	Feed   *feed.Feed     // required
	Logger *slog.Logger
	// Ready asks the store whether it can be read, soon and cheaply; nil = the
	// feed's word is enough.
	Ready func(context.Context) error
	// Export writes everything that is kept of a site, "" = of all; nil = it is not
	// offered.
	Export func(context.Context, io.Writer, dengxu.SiteID) error
	// Version is what /version and the API's description show.
	Version string
	// PublicURL is where clients reach the server; it stands in the API's
	// description.
	PublicURL string
	// TrustedProxies may tell the client's address in X-Forwarded-For.
	TrustedProxies []netip.Prefix
	// CORSOrigins are origins whose pages may use the API; none by default.
	CORSOrigins []string
	MaxBody     int64         // bytes; 0 = 64 KB
	Deadline    time.Duration // of one request, beside what it asks to wait; 0 = 10 s
	Heartbeat   time.Duration // of streams; 0 = 15 s
	// Pace is how often a stream of a far place is refreshed at most; 0 = 1 s.
	Pace time.Duration
	// Limit may refuse a request before it is read, with TooMany; nil = never.
	Limit func(context.Context, Visit) error
	// Done is told of every answered request; nil = nobody.
	Done func(Access)
	// Pages answers what is no operation of the API; nil = not_found, and the
	// documentation for a browser that asks for the root.
	Pages http.Handler
}

// Visit is what a limit can judge a request by.
type Visit struct {
	Operation string
	Mutates   bool
	Address   netip.Addr   // of the client
	Device    string       // of the device cookie, "" = none
	Key       dengxu.KeyID // "" = no key
}

// Access is one answered request.
type Access struct {
	Operation string // "" = no operation of the API
	Status    int
	Took      time.Duration
	Stream    bool // Took is then how long it was open
}

// Names of cookies. KeyCookie holds the secret of a signed-in browser,
// DeviceCookie a random name of it.
const (
	KeyCookie    = "dengxu_key"
	DeviceCookie = "dengxu_device"
)

// server is the API's state; all of it is set once by New, but the watches.
type server struct {
	Options
	engine  *engine.Engine
	log     *slog.Logger
	mux     *http.ServeMux
	routes  []route
	api     huma.API
	guard   http.Handler // mux behind cross-origin protection
	ids     requestIDs
	watches watches
	spec    []byte // openapi.json
	docs    docsPage
}

// New returns the handler of the whole API.
func New(o Options) http.Handler {
	s := &server{Options: o, engine: o.Engine, log: o.Logger, mux: http.NewServeMux(), routes: routes()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.MaxBody == 0 {
		s.MaxBody = 64 << 10
	}
	if s.Deadline == 0 {
		s.Deadline = 10 * time.Second
	}
	if s.Heartbeat == 0 {
		s.Heartbeat = 15 * time.Second
	}
	if s.Pace == 0 {
		s.Pace = time.Second
	}
	s.ids.init()
	s.watches.init(s)
	s.api = humago.New(s.mux, config(o))
	for i := range s.routes {
		r := &s.routes[i]
		r.bind(s, r)
	}
	s.mux.HandleFunc("/", s.elsewhere)
	s.describe()
	s.guard = s.crossOrigin(s.mux)
	return s
}

// config is huma's, without its own pages: the description and the docs are
// served from the table.
func config(o Options) huma.Config {
	c := huma.DefaultConfig("dengxu", o.Version)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil
	c.RejectUnknownQueryParameters = true
	strict := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshalStrict}
	c.Formats = map[string]huma.Format{"application/json": strict, "json": strict}
	if o.PublicURL != "" {
		c.Servers = []*huma.Server{{URL: o.PublicURL}}
	}
	registerSchemas(c.Components.Schemas)
	return c
}

// elsewhere answers what no route matches.
func (s *server) elsewhere(w http.ResponseWriter, r *http.Request) {
	if s.Pages != nil {
		s.Pages.ServeHTTP(w, r)
		return
	}
	if r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		strings.Contains(r.Header.Get("Accept"), "text/html") {
		w.Header().Set("Vary", "Accept")
		http.Redirect(w, r, "/docs", http.StatusFound) // a person who looks what is here
		return
	}
	s.refuse(w, r, dengxu.Errorf(dengxu.NotFound, "there is no operation %s %s", r.Method, r.URL.Path))
}

// NewServer returns a server with the limits that the handler relies on: slow
// headers and bodies are cut, headers are bounded. Writing has no limit here;
// the handler sets one for each answer.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 250},
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
