package httpapi

import (
	"cmp"
	"net/http"

	"github.com/dengxu/dengxu"
)

// route is one row of THE route table.
type route struct {
	method, path string
	id           string // operation id
	tag          string
	summary      string
	notes        string
	roles        []dengxu.Role // whose keys may; nobody else's
	public       bool          // may be asked without a key
	holder       bool          // the token id in the path is the credential
	scope        scope         // what must lie in the key's scope
	creates      bool          // PUT: may name something new
	mutates      bool
	waits        bool        // long poll: up to maxWait more
	long         bool        // reads everything, or writes to a whole line: up to longRead
	stream       bool        // no deadline
	status       int         // of success; 0 = 200
	empty        string      // what a 204 means
	maxBody      int64       // bytes, where it takes more than others; 0 = the server's limit
	verb         dengxu.Verb // whose body it takes, "" = of its own
	bind         binder

	takesBody bool // set by op
}

func (r *route) success() int { return cmp.Or(r.status, http.StatusOK) }

// Operations that other code names.
const (
	opJoinSite = "join-site"
	opEvents   = "events"
)

// The groups of roles that the table uses.
var (
	adminOnly = []dengxu.Role{dengxu.RoleAdmin}
	staff     = []dengxu.Role{dengxu.RoleAdmin, dengxu.RoleOperator}
	desk      = []dengxu.Role{dengxu.RoleAdmin, dengxu.RoleOperator, dengxu.RoleKiosk}
	joiners   = []dengxu.Role{dengxu.RoleAdmin, dengxu.RoleOperator, dengxu.RoleKiosk, dengxu.RoleWorker}
	watchers  = []dengxu.Role{dengxu.RoleAdmin, dengxu.RoleOperator, dengxu.RoleDisplay}
)

// The tags of the description.
const (
	tagJoin   = "join"
	tagHolder = "holder"
	tagCall   = "call"
	tagServe  = "serve"
	tagRead   = "read"
	tagManage = "manage"
	tagFeed   = "feed"
	tagSystem = "system"
)

const (
	get    = http.MethodGet
	put    = http.MethodPut
	post   = http.MethodPost
	patchM = http.MethodPatch
	del    = http.MethodDelete
)

// routes is the whole table. It is a function because handlers read the table
// that names them.
func routes() []route {
	var all []route
	for _, part := range [][]route{lineRoutes(), serveRoutes(), readRoutes(), manageRoutes(), ruleRoutes(), modelRoutes(), systemRoutes()} {
		all = append(all, part...)
	}
	return all
}

// lineRoutes are what people in line and the counters do most.
func lineRoutes() []route {
	const called = "nobody to call; " + headerReason + " says why"
	return []route{
		{
			method: post, path: "/queue/{queue_id}/join", id: "join", tag: tagJoin, summary: "take a number",
			notes: "Without a key only what the queue's public_join names.",
			roles: joiners, public: true, scope: onQueue, mutates: true, status: http.StatusCreated, bind: op((*server).join),
		},
		{
			method: post, path: "/site/{site_id}/join", id: opJoinSite, tag: tagJoin, summary: "take a number in several queues, all or none",
			roles: desk, public: true, scope: onSite, mutates: true, status: http.StatusCreated, bind: op((*server).joinSite),
		},

		{
			method: get, path: "/queue/token/{token_id}/position", id: "position", tag: tagHolder, summary: "where the holder stands now",
			holder: true, bind: op((*server).position),
		},
		{
			method: get, path: "/queue/token/{token_id}/stream", id: "position-stream", tag: tagHolder, summary: "the position, then every change of it",
			notes: "Messages are positions. The stream ends after a final state.", holder: true, stream: true, bind: stream((*server).positionStream),
		},
		holderRoute(dengxu.VerbCancel, "give the place up"),
		holderRoute(dengxu.VerbDefer, "step back for a while and keep the place"),
		holderRoute(dengxu.VerbCheckIn, "say: I am here"),
		holderRoute(dengxu.VerbConfirm, "say: I am coming"),
		holderRoute(dengxu.VerbRate, "rate the service"),

		{
			method: post, path: "/queue/{queue_id}/counter/{counter_id}/call_next", id: "call-next-of-queue", tag: tagCall, summary: "call the next of one queue",
			roles: staff, scope: onQueue, mutates: true, waits: true, empty: called, bind: op((*server).callNextOfQueue),
		},
		{
			method: post, path: "/counter/{counter_id}/call_next", id: "call-next", tag: tagCall, summary: "call the next of all the counter's queues",
			roles: staff, scope: onCounter, mutates: true, waits: true, empty: called, bind: op((*server).callNext),
		},
		{
			method: post, path: "/counter/{counter_id}/call/{token_id}", id: "call-token", tag: tagCall, summary: "call a given token",
			notes: "Needs the right pick, and a reason.", roles: staff, scope: onCounter, mutates: true, verb: dengxu.VerbCall, bind: op((*server).callToken),
		},
	}
}

func holderRoute(verb dengxu.Verb, summary string) route {
	return route{
		method: post, path: "/queue/token/{token_id}/" + string(verb), id: "holder-" + string(verb), tag: tagHolder,
		summary: summary, roles: staff, holder: true, scope: onToken, mutates: true, verb: verb, bind: op(holderVerb(verb)),
	}
}

func serveRoute(verb dengxu.Verb, summary string) route {
	return route{
		method: post, path: "/token/{token_id}/" + string(verb), id: string(verb), tag: tagServe,
		summary: summary, roles: staff, scope: onToken, mutates: true, verb: verb, bind: op(staffVerb(verb)),
	}
}

func serveRoutes() []route {
	return []route{
		serveRoute(dengxu.VerbRecall, "announce a called token again"),
		serveRoute(dengxu.VerbStart, "begin the service"),
		serveRoute(dengxu.VerbComplete, "end the service"),
		serveRoute(dengxu.VerbMiss, "the called person did not come"),
		serveRoute(dengxu.VerbRequeue, "put back to its place; no miss counted"),
		serveRoute(dengxu.VerbHold, "park"),
		serveRoute(dengxu.VerbResume, "go on with a parked token"),
		serveRoute(dengxu.VerbTransfer, "send to another queue of the site"),
		serveRoute(dengxu.VerbReinstate, "back in line after a miss"),
		serveRoute(dengxu.VerbMove, "give another place, with the right move and a reason"),
		serveRoute(dengxu.VerbCancel, "end without service"),
		serveRoute(dengxu.VerbAbandon, "the person went away"),
		serveRoute(dengxu.VerbUndo, "take the last verb back"),
		{
			method: patchM, path: "/token/{token_id}", id: "edit", tag: tagServe, summary: "change what the token says of its holder; the place is kept",
			roles: staff, scope: onToken, mutates: true, bind: op((*server).edit),
		},
	}
}

func readRoutes() []route {
	return []route{
		{method: get, path: "/token/{token_id}", id: "token", tag: tagRead, summary: "a token", roles: staff, scope: onToken, bind: op((*server).token)},
		{method: get, path: "/token/{token_id}/explain", id: "explain", tag: tagRead, summary: "why it stands where it stands", roles: staff, scope: onToken, bind: op((*server).explain)},
		{method: get, path: "/token/{token_id}/history", id: "history", tag: tagRead, summary: "what it has been through", roles: staff, scope: onToken, bind: op((*server).history)},
		{method: get, path: "/queue/{queue_id}/tokens", id: "queue-tokens", tag: tagRead, summary: "the tokens of a queue", roles: staff, scope: onQueue, bind: op((*server).queueTokens)},
		{method: get, path: "/queue/{queue_id}/estimate", id: "estimate", tag: tagRead, summary: "the wait of somebody who joined now", roles: desk, scope: onQueue, bind: op((*server).estimate)},
		{method: get, path: "/queue/{queue_id}/stats", id: "stats", tag: tagRead, summary: "the recent past of a queue", roles: staff, scope: onQueue, bind: op((*server).stats)},
		{method: get, path: "/site/{site_id}/tokens", id: "site-tokens", tag: tagRead, summary: "search the tokens of a site", roles: staff, scope: onSite, bind: op((*server).siteTokens)},
		{method: get, path: "/actions", id: "actions", tag: tagRead, summary: "who did what, newest first", roles: adminOnly, bind: op((*server).actions)},
		{
			method: get, path: "/events", id: opEvents, tag: tagFeed, summary: "every change as it happens",
			notes: "Server-sent events: data is an event, id its cursor. An event named reset says that changes were lost: read anew, and go on with its cursor. Without site: admins only. A display sees ref and number, no token ids.",
			roles: watchers, stream: true, bind: stream((*server).events),
		},
	}
}

func manageRoutes() []route {
	all := []route{
		{method: get, path: "/sites", id: "sites", tag: tagManage, summary: "all sites", roles: desk, bind: op((*server).sites)},
		{method: get, path: "/queues", id: "queues", tag: tagManage, summary: "all queues, or those of a site", roles: desk, bind: op((*server).queues)},
		{method: get, path: "/counters", id: "counters", tag: tagManage, summary: "all counters, or those of a site", roles: staff, bind: op((*server).counters)},
		{method: get, path: "/keys", id: "keys", tag: tagManage, summary: "all keys, without their secrets", roles: adminOnly, scope: onServer, bind: op((*server).keys)},

		{method: get, path: "/site/{site_id}", id: "site", tag: tagManage, summary: "a site's settings and state", roles: desk, scope: onSite, bind: op((*server).site)},
		{method: put, path: "/site/{site_id}", id: "put-site", tag: tagManage, summary: "make a site or replace its settings", roles: adminOnly, scope: onSite, mutates: true, creates: true, bind: op((*server).putSite)},
		{method: patchM, path: "/site/{site_id}", id: "patch-site", tag: tagManage, summary: "change some of a site's settings", roles: adminOnly, scope: onSite, mutates: true, bind: op((*server).patchSite)},
		{method: del, path: "/site/{site_id}", id: "delete-site", tag: tagManage, summary: "remove an empty site", roles: adminOnly, scope: onSite, mutates: true, status: http.StatusNoContent, bind: op((*server).deleteSite)},

		{method: get, path: "/queue/{queue_id}", id: "queue", tag: tagManage, summary: "a queue's settings and state", roles: desk, scope: onQueue, bind: op((*server).queue)},
		{method: put, path: "/queue/{queue_id}", id: "put-queue", tag: tagManage, summary: "make a queue or replace its settings", roles: adminOnly, scope: onQueue, mutates: true, creates: true, bind: op((*server).putQueue)},
		{method: patchM, path: "/queue/{queue_id}", id: "patch-queue", tag: tagManage, summary: "change some of a queue's settings", roles: adminOnly, scope: onQueue, mutates: true, bind: op((*server).patchQueue)},
		{method: del, path: "/queue/{queue_id}", id: "delete-queue", tag: tagManage, summary: "remove an unused queue", roles: adminOnly, scope: onQueue, mutates: true, status: http.StatusNoContent, bind: op((*server).deleteQueue)},

		{method: get, path: "/counter/{counter_id}", id: "counter", tag: tagManage, summary: "a counter's settings, state and tokens", roles: staff, scope: onCounter, bind: op((*server).counter)},
		{method: put, path: "/counter/{counter_id}", id: "put-counter", tag: tagManage, summary: "make a counter or replace its settings", roles: adminOnly, scope: onCounter, mutates: true, creates: true, bind: op((*server).putCounter)},
		{method: patchM, path: "/counter/{counter_id}", id: "patch-counter", tag: tagManage, summary: "change some of a counter's settings", roles: adminOnly, scope: onCounter, mutates: true, bind: op((*server).patchCounter)},
		{method: del, path: "/counter/{counter_id}", id: "delete-counter", tag: tagManage, summary: "remove a counter without tokens", roles: adminOnly, scope: onCounter, mutates: true, status: http.StatusNoContent, bind: op((*server).deleteCounter)},

		{method: get, path: "/key/{key_id}", id: "key", tag: tagManage, summary: "a key, without its secret", roles: adminOnly, scope: onServer, bind: op((*server).apiKey)},
		{method: put, path: "/key/{key_id}", id: "put-key", tag: tagManage, summary: "make a key or replace its settings", notes: "The secret is in the answer that made it, and never again.", roles: adminOnly, scope: onServer, mutates: true, creates: true, bind: op((*server).putKey)},
		{method: del, path: "/key/{key_id}", id: "delete-key", tag: tagManage, summary: "make a key unknown at once", roles: adminOnly, scope: onServer, mutates: true, status: http.StatusNoContent, bind: op((*server).deleteKey)},
	}
	for _, action := range []string{"open", "pause", "close"} {
		all = append(all,
			route{
				method: post, path: "/queue/{queue_id}/" + action, id: action + "-queue", tag: tagManage, summary: action + " a queue's door",
				roles: staff, scope: onQueue, mutates: true, bind: op(doorAction(action)),
			},
			route{
				method: post, path: "/counter/{counter_id}/" + action, id: action + "-counter", tag: tagManage, summary: action + " a counter",
				roles: staff, scope: onCounter, mutates: true, bind: op(counterAction(action)),
			})
	}
	return all
}

// ruleRoutes are what is done with a queue's rules beside saving them.
func ruleRoutes() []route {
	return []route{
		{
			method: post, path: "/queue/{queue_id}/rules/test", id: "test-rules", tag: tagManage, summary: "what a queue's rules, or others, make of example holders",
			notes: "Nobody joins and nothing is changed.", roles: staff, scope: onQueue, mutates: true, bind: op((*server).testRules),
		},
		{
			method: post, path: "/queue/{queue_id}/rules/reapply", id: "reapply-rules", tag: tagManage, summary: "judge those who wait by the present rules",
			notes: "Needs the right move. They get the factor, class and lane that they would have had; places, head starts and numbers stay. A change of rules alone moves nobody.",
			roles: staff, scope: onQueue, mutates: true, long: true, bind: op((*server).reapplyRules),
		},
	}
}

// modelRoutes are what a queue's estimates have learned.
func modelRoutes() []route {
	return []route{
		{
			method: get, path: "/queue/{queue_id}/model", id: "model", tag: tagManage, summary: "what a queue's estimates have learned",
			notes: "With full=true also what can be loaded again.", roles: staff, scope: onQueue, bind: op((*server).model),
		},
		{
			method: put, path: "/queue/{queue_id}/model", id: "load-model", tag: tagManage, summary: "go by a model that was exported, of this queue or another",
			notes: "The next training replaces it.", roles: adminOnly, scope: onQueue, mutates: true, maxBody: maxModel, bind: op((*server).loadModel),
		},
		{
			method: del, path: "/queue/{queue_id}/model", id: "forget-model", tag: tagManage, summary: "go by position and rate until the next training",
			roles: adminOnly, scope: onQueue, mutates: true, status: http.StatusNoContent, bind: op((*server).forgetModel),
		},
		{
			method: post, path: "/queue/{queue_id}/model/train", id: "train-model", tag: tagManage, summary: "learn now from all resolved tokens",
			notes: "Takes up to two seconds of a processor. What beat position and rate on the newest fifth is kept, or nothing.",
			roles: adminOnly, scope: onQueue, mutates: true, long: true, bind: op((*server).trainModel),
		},
		{
			method: get, path: "/queue/{queue_id}/lessons", id: "lessons", tag: tagManage, summary: "the resolved tokens that a queue has to learn from, the oldest first",
			roles: adminOnly, scope: onQueue, stream: true, bind: bindLessons,
		},
	}
}

func systemRoutes() []route {
	return []route{
		{method: get, path: "/healthz", id: "healthz", tag: tagSystem, summary: "the process is alive", public: true, bind: op((*server).healthz)},
		{method: get, path: "/readyz", id: "readyz", tag: tagSystem, summary: "the server can answer; its store and durability in words", public: true, bind: bindReadyz},
		{method: get, path: "/version", id: "version", tag: tagSystem, summary: "the server's version", public: true, bind: op((*server).version)},
		{method: get, path: "/audit", id: "audit", tag: tagSystem, summary: "compare the store's indexes with its records", roles: adminOnly, scope: onServer, long: true, bind: op((*server).audit)},
		{method: get, path: "/export", id: "export", tag: tagSystem, summary: "everything that is kept of a site, or of all: a backup that dengxu import reads", roles: adminOnly, scope: onServer, stream: true, bind: bindExport},
		{method: get, path: "/openapi.json", id: "openapi", tag: tagSystem, summary: "the description of this API", public: true, bind: raw((*server).openapi)},
		{method: get, path: "/docs", id: "docs", tag: tagSystem, summary: "this API for people", public: true, bind: raw((*server).docsHTML)},
	}
}
