package auth

import "fairlead/internal/fleet"

// SumForTest appends a token's checksum.
func SumForTest(s string) string { return withSum(s) }

// IDForTest writes an id as an API token does.
func IDForTest(id fleet.CredentialID) string { return encode62(id[:], idWidth) }
