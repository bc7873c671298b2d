// Package envoyconfig reads the configuration that an Envoy was started with or runs - a
// static bootstrap, or the answer of its /config_dump - and makes of it documents for a
// fleet. What cannot be taken over it names, with the reason. It does no I/O.
package envoyconfig
