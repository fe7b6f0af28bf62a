// Package dengxu holds the vocabulary of waiting lines: ids, states, the one
// transition table, errors, events, and the settings and answers that travel
// over the API. It owns the words and refuses behaviour: nothing here reads a
// clock, a store or a network. It depends on the standard library only.
package dengxu
