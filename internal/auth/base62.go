package auth

import (
	"math/big"
	"strings"
)

// digitsAtOnce is how many digits a uint64 holds.
const digitsAtOnce = 10

const base62Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// encode62 writes b as a base62 number of exactly width digits. The width must be
// large enough for any number of len(b) bytes.
func encode62(b []byte, width int) string {
	n, base, rest := new(big.Int).SetBytes(b), big.NewInt(62), new(big.Int)
	out := make([]byte, width)
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, base, rest)
		out[i] = base62Digits[rest.Int64()]
	}
	return string(out)
}

// decode62 is the inverse of encode62. It is false for another digit and for a number
// that does not fit, so that every value has one spelling.
func decode62(s string, out []byte) bool {
	n, base, more := new(big.Int), new(big.Int), new(big.Int)
	for len(s) > 0 {
		digits := min(len(s), digitsAtOnce)
		value, power := uint64(0), uint64(1)
		for i := range digits {
			d := strings.IndexByte(base62Digits, s[i])
			if d < 0 {
				return false
			}
			value, power = value*62+uint64(d), power*62 //nolint:gosec // d is less than 62
		}
		n.Mul(n, base.SetUint64(power)).Add(n, more.SetUint64(value))
		s = s[digits:]
	}
	if n.BitLen() > 8*len(out) {
		return false
	}
	n.FillBytes(out)
	return true
}
