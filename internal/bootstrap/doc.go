// Package bootstrap writes the file that an Envoy starts with: how it reaches Fairlead,
// as whom, and nothing else. What it writes ran with a real Envoy, and is validated by
// one in the tests.
package bootstrap
