package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
)

// unreadable tells of a body that keeps to the contract and that the generated code could not read: it has a number that the contract lets pass.
func unreadable(r *http.Request, err error) error {
	var number *json.UnmarshalTypeError
	if !errors.As(err, &number) || r.GetBody == nil {
		return offContract(err)
	}
	body, failed := r.GetBody()
	if failed != nil {
		return offContract(err)
	}
	b, failed := io.ReadAll(body)
	path, found := numberAt(b, strings.TrimPrefix(number.Value, "number "), number.Offset)
	if failed != nil || !found {
		return offContract(err)
	}
	code, detail := "too_large", "a number is below 1.8e308"
	if k := number.Type.Kind(); reflect.Int <= k && k <= reflect.Uint64 {
		code, detail = "wrong_type", "write a whole number without a point and an exponent, such as 100"
	}
	p := refuse(http.StatusBadRequest, "invalid_request", requestDetail, fault(nil, path, code, detail))
	p.cause = err
	return p
}

// numberAt finds a number of JSON by how it is written, the last one that ends before the offset; where none does, the first.
func numberAt(b []byte, text string, offset int64) (path []string, found bool) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	type level struct {
		list bool
		n    int    // of a list: the item
		key  string // of an object
		name bool   // what comes is a key
	}
	var levels []level
	next := func() { // a value has ended
		if n := len(levels); n > 0 {
			levels[n-1].n++
			levels[n-1].name = !levels[n-1].list
		}
	}
	for {
		t, err := d.Token()
		if err != nil {
			return path, found
		}
		if n := len(levels); n > 0 && levels[n-1].name && t != json.Delim('}') {
			levels[n-1].key, _ = t.(string)
			levels[n-1].name = false
			continue
		}
		switch v := t.(type) {
		case json.Delim:
			if v == '[' || v == '{' {
				levels = append(levels, level{list: v == '[', name: v == '{'})
				continue
			}
			levels = levels[:len(levels)-1]
		case json.Number:
			if v.String() == text && (!found || d.InputOffset() <= offset) {
				path, found = nil, true
				for _, l := range levels {
					if l.list {
						path = append(path, strconv.Itoa(l.n))
					} else {
						path = append(path, l.key)
					}
				}
			}
		}
		next()
	}
}
