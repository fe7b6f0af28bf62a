package httpapi

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
)

// IfMatch is the version of settings that the caller saw.
type IfMatch struct {
	IfMatch string `header:"If-Match" doc:"version of the settings that were seen, as in ETag; another one there now is a conflict"`
}

// version reads the header; 0 = not given.
func (p *IfMatch) version() (uint64, error) {
	if p.IfMatch == "" {
		return 0, nil
	}
	text := strings.Trim(strings.TrimPrefix(p.IfMatch, "W/"), `"`)
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil || v == 0 {
		return 0, dengxu.Fieldf(dengxu.Invalid, "If-Match", `If-Match must be a version, such as "3"`)
	}
	return v, nil
}

// Parameters of changes of settings.
type (
	siteChange struct {
		SitePath
		IfMatch
	}
	queueChange struct {
		QueuePath
		IfMatch
	}
	counterChange struct {
		CounterPath
		IfMatch
	}
	keyChange struct {
		KeyPath
		IfMatch
	}
)

// pageSize is how many items a page has when the caller does not say.
const pageSize = 50

// ListQuery asks for one page of a list.
type ListQuery struct {
	Cursor string `query:"cursor" maxLength:"512" doc:"next_cursor of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" doc:"50 when absent"`
}

// SiteQuery narrows a list to one site.
type SiteQuery struct {
	ListQuery
	Site dengxu.SiteID `query:"site" maxLength:"64"`
}

// page cuts one page out of items by id. The cursor holds the last id seen, so
// that what is made or removed meanwhile shifts nothing.
func page[T any](q *ListQuery, items []T, id func(*T) string) (*dengxu.List[T], error) {
	slices.SortFunc(items, func(a, b T) int { return strings.Compare(id(&a), id(&b)) })
	if q.Cursor != "" {
		last, err := base64.RawURLEncoding.DecodeString(q.Cursor)
		if err != nil {
			return nil, dengxu.Fieldf(dengxu.Invalid, "cursor", "this is not a cursor").Because("cursor")
		}
		items = items[sort.Search(len(items), func(i int) bool { return id(&items[i]) > string(last) }):]
	}
	limit := cmp.Or(q.Limit, pageSize)
	list := &dengxu.List[T]{Items: items}
	if len(items) > limit {
		list.Items = items[:limit]
		list.NextCursor = base64.RawURLEncoding.EncodeToString([]byte(id(&items[limit-1])))
	}
	if list.Items == nil {
		list.Items = []T{}
	}
	return list, nil
}

// tag is the ETag of settings.
func (c *call) tag(version uint64) { c.SetHeader("ETag", `"`+strconv.FormatUint(version, 10)+`"`) }

// settled answers a change of settings: 201 for what was made by it.
func settled[T any](c *call, done engine.Done[T], err error, version func(*T) uint64) (*T, error) {
	if err != nil {
		return nil, err
	}
	v := version(&done.Value)
	c.tag(v)
	if v == 1 && c.route.creates {
		c.status = http.StatusCreated
	}
	c.replayed(done.Replayed)
	return &done.Value, nil
}

// shown answers a read of settings.
func shown[T any](c *call, view T, err error, version func(*T) uint64) (*T, error) {
	if err != nil {
		return nil, err
	}
	c.tag(version(&view))
	return &view, nil
}

func siteVersion(v *dengxu.SiteView) uint64       { return v.Version }
func queueVersion(v *dengxu.QueueView) uint64     { return v.Version }
func counterVersion(v *dengxu.CounterView) uint64 { return v.Version }
func keyVersion(v *dengxu.KeyView) uint64         { return v.Version }

func (s *server) sites(c *call, p *ListQuery, _ *nothing) (*dengxu.List[dengxu.SiteView], error) {
	all, err := s.engine.Sites(c.ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(v dengxu.SiteView) bool { return !c.reachesSite(v.ID) })
	return page(p, all, func(v *dengxu.SiteView) string { return string(v.ID) })
}

func (s *server) queues(c *call, p *SiteQuery, _ *nothing) (*dengxu.List[dengxu.QueueView], error) {
	all, err := s.engine.Queues(c.ctx, p.Site)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(v dengxu.QueueView) bool { return !c.reaches(v.Site, v.ID) })
	return page(&p.ListQuery, all, func(v *dengxu.QueueView) string { return string(v.ID) })
}

func (s *server) counters(c *call, p *SiteQuery, _ *nothing) (*dengxu.List[dengxu.CounterView], error) {
	all, err := s.engine.Counters(c.ctx, p.Site)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(v dengxu.CounterView) bool { return !c.reachesCounter(&v) })
	return page(&p.ListQuery, all, func(v *dengxu.CounterView) string { return string(v.ID) })
}

func (s *server) keys(c *call, p *ListQuery, _ *nothing) (*dengxu.List[dengxu.KeyView], error) {
	all, err := s.engine.Keys(c.ctx)
	if err != nil {
		return nil, err
	}
	return page(p, all, func(v *dengxu.KeyView) string { return string(v.ID) })
}

func (s *server) site(c *call, p *SitePath, _ *nothing) (*dengxu.SiteView, error) {
	v, err := s.engine.Site(c.ctx, p.SiteID)
	return shown(c, v, err, siteVersion)
}

func (s *server) putSite(c *call, p *siteChange, b *dengxu.Site) (*dengxu.SiteView, error) {
	match, err := p.version()
	if err != nil {
		return nil, err
	}
	done, err := s.engine.PutSite(c.ctx, c.by(), p.SiteID, *b, match)
	return settled(c, done, err, siteVersion)
}

func (s *server) patchSite(c *call, p *siteChange, b *patch) (*dengxu.SiteView, error) {
	match, err := p.version()
	if err != nil {
		return nil, err
	}
	done, err := s.engine.PatchSite(c.ctx, c.by(), p.SiteID, b.raw(), match)
	return settled(c, done, err, siteVersion)
}

func (s *server) deleteSite(c *call, p *siteChange, _ *nothing) (*nothing, error) {
	match, err := p.version()
	if err != nil {
		return nil, err
	}
	return nil, s.engine.DeleteSite(c.ctx, c.by(), p.SiteID, match)
}

func (s *server) queue(c *call, p *QueuePath, _ *nothing) (*dengxu.QueueView, error) {
	v, err := s.engine.Queue(c.ctx, p.QueueID)
	return shown(c, v, err, queueVersion)
}

func (s *server) putQueue(c *call, p *queueChange, b *dengxu.Queue) (*dengxu.QueueView, error) {
	match, err := p.version()
	if err != nil {
		return nil, err
	}
	if _, err := s.engine.QueueSite(c.ctx, p.QueueID); dengxu.CodeOf(err) == dengxu.NotFound {
		if err := c.mayPlace(b.Site, p.QueueID); err != nil {
			return nil, err
		}
	}
	done, err := s.engine.PutQueue(c.ctx, c.by(), p.QueueID, *b, match)
	return settled(c, done, err, queueVersion)
}

func (s *server) patchQueue(c *call, p *queueChange, b *patch) (*dengxu.QueueView, error) {
	match, err := p.version()
	if err != nil {
		return nil, err
	}
	done, err := s.engine.PatchQueue(c.ctx, c.by(), p.QueueID, b.raw(), match)
	return settled(c, done, err, queueVersion)
}

func (s *server) deleteQueue(c *call, p *queueChange, _ *nothing) (*nothing, error) {
	match, err := p.version()
	if err != nil {
		return nil, err
	}
	return nil, s.engine.DeleteQueue(c.ctx, c.by(), p.QueueID, match)
}

func (s *server) counter(c *call, p *CounterPath, _ *nothing) (*dengxu.CounterView, error) {
	v, err := s.engine.Counter(c.ctx, p.CounterID)
	return shown(c, v, err, counterVersion)
}

// wholeSite refuses keys for single queues: a counter that they could change
// would call from any queue of its site.
func (c *call) wholeSite() error {
	if c.key != nil && len(c.key.Queues) > 0 {
		return dengxu.Errorf(dengxu.Forbidden, "this needs a key that is not limited to queues").Because("scope")
	}
	return nil
}

func (s *server) putCounter(c *call, p *counterChange, b *dengxu.Counter) (*dengxu.CounterView, error) {
	match, err := p.version()
	if err != nil {
		return nil, err
	}
	if err := c.wholeSite(); err != nil {
		return nil, err
	}
	if _, err := s.engine.CounterSite(c.ctx, p.CounterID); dengxu.CodeOf(err) == dengxu.NotFound {
		if err := c.mayPlace(b.Site, ""); err != nil {
			return nil, err
		}
	}
	done, err := s.engine.PutCounter(c.ctx, c.by(), p.CounterID, *b, match)
	return settled(c, done, err, counterVersion)
}

func (s *server) patchCounter(c *call, p *counterChange, b *patch) (*dengxu.CounterView, error) {
	match, err := p.version()
	if err != nil {
		return nil, err
	}
	if err := c.wholeSite(); err != nil {
		return nil, err
	}
	done, err := s.engine.PatchCounter(c.ctx, c.by(), p.CounterID, b.raw(), match)
	return settled(c, done, err, counterVersion)
}

func (s *server) deleteCounter(c *call, p *counterChange, _ *nothing) (*nothing, error) {
	match, err := p.version()
	if err != nil {
		return nil, err
	}
	return nil, s.engine.DeleteCounter(c.ctx, c.by(), p.CounterID, match)
}

func (s *server) apiKey(c *call, p *KeyPath, _ *nothing) (*dengxu.KeyView, error) {
	v, err := s.engine.Key(c.ctx, p.KeyID)
	return shown(c, v, err, keyVersion)
}

func (s *server) putKey(c *call, p *keyChange, b *dengxu.Key) (*dengxu.KeyView, error) {
	match, err := p.version()
	if err != nil {
		return nil, err
	}
	done, err := s.engine.PutKey(c.ctx, c.by(), p.KeyID, *b, match)
	return settled(c, done, err, keyVersion)
}

func (s *server) deleteKey(c *call, p *keyChange, _ *nothing) (*nothing, error) {
	match, err := p.version()
	if err != nil {
		return nil, err
	}
	return nil, s.engine.DeleteKey(c.ctx, c.by(), p.KeyID, match)
}

func (s *server) testRules(c *call, p *QueuePath, b *dengxu.RulesTest) (*dengxu.RulesTested, error) {
	tested, err := s.engine.TestRules(c.ctx, c.by(), p.QueueID, *b)
	if err != nil {
		return nil, err
	}
	return &tested, nil
}

func (s *server) reapplyRules(c *call, p *QueuePath, _ *nothing) (*dengxu.RulesReapplied, error) {
	done, err := s.engine.ReapplyRules(c.ctx, c.by(), p.QueueID)
	if err != nil {
		return nil, err
	}
	return &done, nil
}

// doorAction moves a queue's door by hand.
func doorAction(action string) func(*server, *call, *QueuePath, *dengxu.DoorRequest) (*dengxu.QueueView, error) {
	return func(s *server, c *call, p *QueuePath, b *dengxu.DoorRequest) (*dengxu.QueueView, error) {
		done, err := s.engine.SetDoor(c.ctx, c.by(), p.QueueID, action, *b)
		return settled(c, done, err, queueVersion)
	}
}

// counterAction changes a counter's state by hand.
func counterAction(action string) func(*server, *call, *CounterPath, *dengxu.DoorRequest) (*dengxu.CounterView, error) {
	return func(s *server, c *call, p *CounterPath, b *dengxu.DoorRequest) (*dengxu.CounterView, error) {
		done, err := s.engine.SetCounterState(c.ctx, c.by(), p.CounterID, action, *b)
		return settled(c, done, err, counterVersion)
	}
}

// raw is the patch as the engine takes it; no body changes nothing.
func (p patch) raw() json.RawMessage {
	if len(p) == 0 {
		return json.RawMessage("{}")
	}
	return json.RawMessage(p)
}
