// Package scenario reads and plays stories: short texts that say who joins
// which line at what time, what is done, and what must follow. One story is
// played on every store, directly and over HTTP, and is documentation at the
// same time. The package owns the language (README.md), its parser and its
// player; it knows the vocabulary of the root package only and refuses to know
// an engine, a server or a store: those come as a Stage.
package scenario
