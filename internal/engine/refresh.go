package engine

import "context"

// Refresh loads all settings anew, for when events may have gone unseen. When
// the store cannot be read, the settings at hand stay and it is logged: commits
// expect versions, so old settings cost a retry and never a wrong decision.
func (e *Engine) Refresh(ctx context.Context) {
	if err := e.refresh(ctx); err != nil {
		e.log.WarnContext(ctx, "settings could not be read anew", "err", err)
	}
}
