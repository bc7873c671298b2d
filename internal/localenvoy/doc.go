// Package localenvoy finds or fetches an Envoy and runs it as a child, for `fairlead
// dev` and for tests.
package localenvoy
