// Package rule compiles and evaluates the rules of a queue: short conditions on
// what is known of a holder at the join, and what follows when one holds.
//
// It owns the language of conditions: the names that a condition may use, what
// a missing or wrongly typed operand means, and the limits that keep any
// condition, however written, from costing more than a moment. The grammar is
// that of expr-lang/expr, of which only what ends by itself is let through.
//
// It refuses to read anything: whoever evaluates gives all of the input, so
// that the same input has the same outcome. It knows nothing of stores, lanes
// or clamps; a delta is what the rules ask for, not what a queue grants.
package rule
