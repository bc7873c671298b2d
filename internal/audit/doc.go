// Package audit says what the chain of a tenant's audit is: what is hashed of an event, how a head is signed, and how a chain is verified. It does no I/O. The
// database makes the chain (migrations/functions/audit.sql); the API servers and the command line verify it by what stands here.
package audit
