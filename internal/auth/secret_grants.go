package auth

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"fairlead/internal/fleet"
)

const (
	maxSecretGrants = 100 // of a token
	maxSecretGrant  = 512 // bytes, as a name's
)

// SecretGrants are the Secrets that a token may use in whatever way, beside those that its role lets it use: each entry is a
// name, the beginning of names and *, or a label of the Secret as key=value. They come from the token's row alone.
type SecretGrants []string

// CheckSecretGrant reads one entry: a * stands at the end of a name alone, and both sides of a label say something.
// The error is ErrInvalid.
func CheckSecretGrant(s string) error {
	key, value, label := strings.Cut(s, "=")
	switch {
	case s == "":
		return fmt.Errorf("write a Secret's name, the beginning of names and *, or a label as key=value: %w", fleet.ErrInvalid)
	case len(s) > maxSecretGrant:
		return fmt.Errorf("at most %d bytes: %w", maxSecretGrant, fleet.ErrInvalid)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return fmt.Errorf("this is not plain text: %w", fleet.ErrInvalid)
	case label && (key == "" || value == "" || strings.Contains(s, "*")):
		return fmt.Errorf("a label is key=value, both written out; a name with = in it is granted by its beginning and *: %w", fleet.ErrInvalid)
	case !label && strings.Contains(strings.TrimSuffix(s, "*"), "*"):
		return fmt.Errorf("a * stands at the end alone: %w", fleet.ErrInvalid)
	}
	return nil
}

// CheckSecretGrants reads all; the number is that of the first that is not good, -1 of their number.
func CheckSecretGrants(g []string) (int, error) {
	if len(g) > maxSecretGrants {
		return -1, fmt.Errorf("at most %d entries: %w", maxSecretGrants, fleet.ErrInvalid)
	}
	for i, s := range g {
		if err := CheckSecretGrant(s); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// Name reports whether the Secret of the name is granted, whatever its labels are. The empty name, which is
// that of no Secret, is granted by * alone.
func (g SecretGrants) Name(name string) bool {
	return slices.ContainsFunc(g, func(s string) bool {
		if begin, many := strings.CutSuffix(s, "*"); many {
			return strings.HasPrefix(name, begin)
		}
		return s == name && name != "" && !strings.Contains(s, "=")
	})
}

// Labels reports whether a Secret with the labels is granted.
func (g SecretGrants) Labels(labels map[string]string) bool {
	return slices.ContainsFunc(g, func(s string) bool {
		key, value, ok := strings.Cut(s, "=")
		return ok && value != "" && labels[key] == value
	})
}
