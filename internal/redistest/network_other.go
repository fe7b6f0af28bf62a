//go:build !linux

package redistest

import (
	"errors"
	"testing"
)

var errNoNamespaces = errors.New("network namespaces are Linux's")

func wire(testing.TB, int) (*Network, error) { return nil, errNoNamespaces }

func (*Host) runIP(...string) error { return errNoNamespaces }
