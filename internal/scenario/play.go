package scenario

import (
	"context"
	"fmt"
	"sync"

	"github.com/dengxu/dengxu"
)

// player plays one story.
type player struct {
	ctx    context.Context
	story  *Story
	stage  Stage
	events int // how many have been looked at

	mu    sync.RWMutex // guards names
	names map[string]dengxu.TokenID
}

// Play plays a story on a stage whose clock says story.Starts. It ends at the
// first step that comes out otherwise; the error is an *Error with its line.
func Play(ctx context.Context, story *Story, stage Stage) error {
	p := &player{ctx: ctx, story: story, stage: stage, names: map[string]dengxu.TokenID{}}
	for i := range story.Steps {
		step := &story.Steps[i]
		if err := story.at(step.Line, p.step(step)); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) step(step *Step) error {
	answer, err := step.do.play(p)
	if all, ok := answer.([]*result); ok {
		return p.judge(all, step.oneOf)
	}
	if step.want != nil {
		return step.want.check(p, answer, err)
	}
	if outcome, ok := answer.(dengxu.CallOutcome); ok && err == nil && outcome.Token == nil {
		return fmt.Errorf("called nobody: %s", outcome.Reason)
	}
	return err
}

// bind gives a token its name. A name may come again: then it means the later
// token.
func (p *player) bind(name string, id dengxu.TokenID) {
	if name == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names[name] = id
}

func (p *player) lookup(name string) (dengxu.TokenID, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	id, ok := p.names[name]
	return id, ok
}

// token is the id that a name means; an unknown one when its join was refused.
func (p *player) token(name string) dengxu.TokenID {
	id, _ := p.lookup(name)
	if id == "" {
		return "nobody"
	}
	return id
}
