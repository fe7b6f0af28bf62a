package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dengxu/dengxu"
)

// join puts somebody into one queue, or into several of a site.
type join struct {
	by   Caller
	name string // "" = nobody asks for them later
	Join
}

func (j join) play(p *player) (any, error) {
	tickets, err := p.stage.Join(p.ctx, j.by, j.Join)
	if err != nil {
		return nil, err
	}
	if len(tickets) != len(j.Queues) {
		return nil, fmt.Errorf("%d queues gave %d tickets", len(j.Queues), len(tickets))
	}
	if j.Site == "" {
		p.bind(j.name, tickets[0].ID)
		return tickets[0], nil
	}
	for i, t := range tickets {
		p.bind(j.name+"."+string(j.Queues[i]), t.ID)
	}
	return tickets, nil
}

// parseJoin reads join [NAME] [queue=Q | queues=Q,Q] [FIELD=VALUE …].
func parseJoin(p *parser, _ line, w words) (doing, error) {
	if len(w.bare) > 2 {
		return nil, fmt.Errorf("write: join NAME")
	}
	by, err := p.caller(&w)
	if err != nil {
		return nil, err
	}
	j := join{by: by}
	queue, several := dengxu.QueueID(w.take("queue")), w.take("queues")
	switch {
	case queue != "" && several != "":
		return nil, fmt.Errorf("give queue or queues, not both")
	case several != "":
		j.Site = p.site
		for id := range strings.SplitSeq(several, ",") {
			j.Queues = append(j.Queues, dengxu.QueueID(id))
		}
	case queue != "":
		j.Queues = []dengxu.QueueID{queue}
	default:
		j.Queues = []dengxu.QueueID{p.queue}
	}
	for _, q := range j.Queues {
		if err := p.declared(NounQueue, string(q)); err != nil {
			return nil, err
		}
	}
	if len(w.bare) == 2 {
		if j.name, err = w.bare[1], p.bindJoin(w.bare[1], j); err != nil {
			return nil, err
		}
	}
	err = p.fill(w, &j.JoinRequest)
	return j, err
}

// bindJoin gives a joining token its name; of a join of several queues each
// token is called NAME.QUEUE.
func (p *parser) bindJoin(name string, j join) error {
	if j.Site == "" {
		return p.bind(name)
	}
	for _, q := range j.Queues {
		if err := p.bind(name + "." + string(q)); err != nil {
			return err
		}
	}
	return nil
}

// call calls the next token to a counter, or a given one.
type call struct {
	by   Caller
	name string // of the given one
	as   string // what the called one is called from now on
	Call
}

func (c call) play(p *player) (any, error) {
	if c.name != "" {
		c.Token = p.token(c.name)
	}
	outcome, err := p.stage.Call(p.ctx, c.by, c.Call)
	if err == nil && outcome.Token != nil && c.as != "" {
		p.bind(c.as, outcome.Token.ID)
	}
	return outcome, err
}

// parseCall reads call COUNTER [NAME] [as NAME] [queue=Q] [FIELD=VALUE …].
func parseCall(p *parser, _ line, w words) (doing, error) {
	by, err := p.caller(&w)
	if err != nil {
		return nil, err
	}
	c := call{by: by}
	args := w.bare[1:]
	if n := len(args); n >= 3 && args[n-2] == "as" {
		c.as, args = args[n-1], args[:n-2]
		if err := p.bind(c.as); err != nil {
			return nil, err
		}
	}
	if len(args) < 1 || len(args) > 2 {
		return nil, fmt.Errorf("write: call COUNTER [NAME] [as NAME]")
	}
	c.Counter = dengxu.CounterID(args[0])
	if err := p.declared(NounCounter, args[0]); err != nil {
		return nil, err
	}
	c.Queue = dengxu.QueueID(w.take("queue"))
	if len(args) == 1 {
		err = p.fill(w, &c.CallRequest)
		return c, err
	}
	c.name, c.Reason = args[1], w.take("reason")
	if version := w.take("version"); version != "" {
		if c.Version, err = strconv.ParseUint(version, 10, 64); err != nil {
			return nil, fmt.Errorf("version: %q is no number", version)
		}
	}
	if len(w.fields) > 0 || c.Queue != "" {
		return nil, fmt.Errorf("a call of a given token takes a reason and a version only")
	}
	return c, p.token(c.name)
}

// act does a verb on one token.
type act struct {
	by   Caller
	verb dengxu.Verb
	name string
	body any
}

func (a act) play(p *player) (any, error) {
	return p.stage.Act(p.ctx, a.by, a.verb, p.token(a.name), a.body)
}

// parseVerb reads VERB NAME [FIELD=VALUE …].
func parseVerb(p *parser, _ line, w words) (doing, error) {
	args, err := arguments(w, "NAME")
	if err != nil {
		return nil, err
	}
	by, err := p.caller(&w)
	if err != nil {
		return nil, err
	}
	body := dengxu.VerbRequest{}
	if to := w.take("to"); to != "" {
		body.QueueID = dengxu.QueueID(to)
		if err := p.declared(NounQueue, to); err != nil {
			return nil, err
		}
	}
	at, after := w.take("place"), w.take("after")
	switch {
	case at != "" && after != "":
		return nil, fmt.Errorf("give place or after, not both")
	case at != "":
		body.Place = &dengxu.Place{At: at}
	case after != "":
		n, err := strconv.Atoi(after)
		if err != nil {
			return nil, fmt.Errorf("after: %q is no number", after)
		}
		body.Place = &dengxu.Place{After: &n}
	}
	if err := p.fill(w, &body); err != nil {
		return nil, err
	}
	return act{by, dengxu.Verb(w.bare[0]), args[0], body}, p.token(args[0])
}

// parseEdit reads edit NAME [FIELD=VALUE …].
func parseEdit(p *parser, _ line, w words) (doing, error) {
	args, err := arguments(w, "NAME")
	if err != nil {
		return nil, err
	}
	by, err := p.caller(&w)
	if err != nil {
		return nil, err
	}
	body := dengxu.TokenEdit{}
	if err := p.fill(w, &body); err != nil {
		return nil, err
	}
	return act{by, dengxu.VerbEdit, args[0], body}, p.token(args[0])
}

// actionReapply judges those who wait in a queue by its present rules.
const actionReapply = "reapply"

// turn opens, pauses, closes or deletes.
type turn struct {
	by Caller
	Turn
}

func (t turn) play(p *player) (any, error) { return p.stage.Turn(p.ctx, t.by, t.Turn) }

// parseTurn reads open|pause|close|delete queue|counter ID [FIELD=VALUE …], and
// reapply queue ID.
func parseTurn(p *parser, _ line, w words) (doing, error) {
	args, err := arguments(w, "queue|counter", "ID")
	if err != nil {
		return nil, err
	}
	by, err := p.caller(&w)
	if err != nil {
		return nil, err
	}
	t := turn{by: by, Turn: Turn{Noun: Noun(args[0]), ID: args[1], Action: w.bare[0]}}
	if t.Noun != NounQueue && t.Noun != NounCounter {
		return nil, fmt.Errorf("only a queue or a counter can %s", t.Action)
	}
	if t.Action == actionReapply && t.Noun != NounQueue {
		return nil, fmt.Errorf("only a queue has rules")
	}
	if err := p.declared(t.Noun, t.ID); err != nil {
		return nil, err
	}
	err = p.fill(w, &t.DoorRequest)
	return t, err
}
