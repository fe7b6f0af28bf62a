package ctl

import (
	"fmt"
	"io"
	"os"
)

// Of says what a command is about: a server, a data folder or a store; at most
// one of them.
type Of struct {
	URL, Data, Store string
	// Variable is the variable that said so; "" = a flag.
	Variable string
}

// OrVariables is what the flags say or, when they say nothing, the first of
// DENGXU_STORE, DENGXU_DATA and, for commands that can ask a server,
// DENGXU_URL that is set.
func (o Of) OrVariables(asks bool) Of {
	if !o.IsNothing() {
		return o
	}
	for _, v := range []struct {
		name string
		of   *string
	}{{"DENGXU_STORE", &o.Store}, {"DENGXU_DATA", &o.Data}, {"DENGXU_URL", &o.URL}} {
		if *v.of = os.Getenv(v.name); *v.of != "" && (asks || v.of != &o.URL) {
			o.Variable = v.name
			return o
		}
		*v.of = ""
	}
	return o
}

// IsNothing reports whether nothing is named.
func (o Of) IsNothing() bool { return o.URL == "" && o.Data == "" && o.Store == "" }

// Tell adds to a message where the name came from, when no flag said so: it may
// not be what was meant. The name itself may hold a password.
func (o Of) Tell(w io.Writer) {
	if o.Variable != "" {
		fmt.Fprintf(w, "  what it is about is taken from %s, for no flag says it\n", o.Variable)
	}
}
