// Package redact knows where keys, passwords and tokens stand in Envoy's messages, and
// takes them out of what is shown: out of messages, and out of what a client says of
// them. It does no I/O and keeps no state.
package redact

// Mark stands in the place of what is not shown.
const Mark = "[redacted]"
