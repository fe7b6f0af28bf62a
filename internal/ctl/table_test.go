package ctl

import (
	"fmt"
	"strings"
	"testing"
)

func TestColumnsOfWideCharactersAreInLine(t *testing.T) {
	t.Parallel()
	var in table
	fmt.Fprint(&in, "ID\tNAME\tDOOR\n1\t内科 (abc)\topen\n2\tCafe\u0301\topen\nno cells\n")
	var out strings.Builder
	if err := in.writeTo(&out); err != nil {
		t.Fatal(err)
	}
	want := "ID  NAME        DOOR\n1   内科 (abc)  open\n2   Cafe\u0301        open\nno cells\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
