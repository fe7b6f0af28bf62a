package storetest

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/dengxu/dengxu/internal/store"
)

// describe prints a value without its zero fields, and symbolic times as they
// were meant.
func describe(v any) string {
	var b strings.Builder
	if v != nil {
		describeValue(&b, reflect.ValueOf(v))
	}
	return b.String()
}

func describeValue(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		describeValue(b, v.Elem())
	case reflect.Struct:
		if v.Type().NumField() == 0 || v.IsZero() {
			b.WriteString(v.Type().Name())
			return
		}
		b.WriteString(v.Type().Name() + "{")
		between := ""
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				continue
			}
			b.WriteString(between + v.Type().Field(i).Name + ":")
			describeValue(b, v.Field(i))
			between = " "
		}
		b.WriteString("}")
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			fmt.Fprintf(b, "%q", v.Interface())
			return
		}
		b.WriteString("[")
		for i := range v.Len() {
			if i > 0 {
				b.WriteString(" ")
			}
			describeValue(b, v.Index(i))
		}
		b.WriteString("]")
	case reflect.Int64:
		if n := v.Int(); store.Symbolic(n) {
			fmt.Fprintf(b, "Now%+d", n-store.Now)
			return
		}
		fmt.Fprint(b, v.Interface())
	default:
		fmt.Fprint(b, v.Interface())
	}
}
