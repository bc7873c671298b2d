package xds

import "bytes"

// objectMember finds where the value of the first member of that name stands in a JSON object, if that value is an object itself: b[from:to]. It goes by quotes and
// brackets alone, and does not say that any of it is JSON. to is 0 where it finds none, or what no JSON has. It grows with the bytes before to.
func objectMember(b []byte, name string) (from, to int) {
	i := afterSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return 0, 0
	}
	for {
		if i = afterSpace(b, i+1); i >= len(b) || b[i] != '"' {
			return 0, 0
		}
		end := afterString(b, i)
		key := b[i:end]
		if i = afterSpace(b, end); i >= len(b) || b[i] != ':' {
			return 0, 0
		}
		i = afterSpace(b, i+1)
		end = afterValue(b, i)
		switch {
		case end > len(b) || end == i:
			return 0, 0
		case len(key) == len(name)+2 && string(key[1:len(key)-1]) == name:
			if b[i] != '{' {
				return 0, 0
			}
			return i, end
		}
		if i = afterSpace(b, end); i >= len(b) || b[i] != ',' {
			return 0, 0
		}
	}
}

// items is how many elements a list in JSON has, 0 of what is no list. b is JSON.
func items(b []byte) (n int) {
	i := afterSpace(b, 0)
	if i >= len(b) || b[i] != '[' {
		return 0
	}
	for i = afterSpace(b, i+1); i < len(b) && b[i] != ']'; n++ {
		end := afterValue(b, i)
		if end == i {
			return n // it is no JSON
		}
		if i = afterSpace(b, end); i < len(b) && b[i] == ',' {
			i = afterSpace(b, i+1)
		}
	}
	return n
}

func afterSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// afterString returns where a string ends that begins at i; len(b) if it does not.
func afterString(b []byte, i int) int {
	for j := i + 1; ; j++ {
		k := bytes.IndexByte(b[min(j, len(b)):], '"')
		if k < 0 {
			return len(b)
		}
		j += k
		escapes := 0 // before the quote
		for j-1-escapes > i && b[j-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return j + 1
		}
	}
}

// afterValue returns where a value ends that begins at i; above len(b) if it does not.
func afterValue(b []byte, i int) int {
	if i < len(b) && b[i] != '{' && b[i] != '[' {
		if b[i] == '"' {
			return afterString(b, i)
		}
		for i < len(b) && bytes.IndexByte([]byte(" \t\n\r,}]"), b[i]) < 0 {
			i++
		}
		return i
	}
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = afterString(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(b) + 1
}
