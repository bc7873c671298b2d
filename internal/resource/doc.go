// Package resource turns what a person wrote into what Fairlead stores and serves: it
// reads YAML and JSON strictly, decodes Envoy's own messages, checks them as deeply as
// Envoy would, and derives from them what other packages need: canonical bytes,
// versions and hashes, references. It does no I/O and keeps no state.
//
// The steps are ToJSON, then ParseDocument, ParsePut or ParseApply, then
// Compiler.Compile. Each reports what is wrong as Errors, with a pointer into the
// document that the caller sent. No error ever holds a value out of a Secret.
package resource
