// Package load sums what proxies report of their load, by cluster and minute, until it is written down. It does no I/O.
package load
