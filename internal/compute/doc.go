// Package compute shares the processors between the computations that requests ask for: a few at a
// time, in turn between tenants, none longer than its caller waits for it. It does no I/O, and its goroutines do nothing.
package compute
