// Package client speaks the HTTP API of a dengxu server: one method an
// operation, plus Watch, Events and Counter, which keep going over lost
// connections. It owns retries and idempotency keys and refuses everything
// else: no cache, no state beyond the one call that a Counter may have open.
//
// Every request that changes something carries an idempotency key of its own,
// made before the first attempt. Only that same key is repeated, only while
// the answer is not definite, and only within the budget of Options. So a
// method either did its work once, or did not, or says so: code deadline with
// reason outcome_unknown.
//
// Errors are *dengxu.Error; dengxu.CodeOf tells them apart.
package client
