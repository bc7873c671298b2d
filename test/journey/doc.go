// Package journey holds one test: it does what docs/tutorial.md tells a reader to do, with the
// real programs and a real Envoy, and fails where the page says another thing than they do.
//
// Of the page it runs the blocks that are fenced as "console", line by line in a shell, and
// compares what is printed; times, ids, ports and the like are written as if they were always
// the same. A block that begins with "# NAME.yaml" is written to that file. A comment
//
//	<!-- await: COMMAND => TEXT -->
//
// runs the command until it prints the text: what a reader needs no patience for. Other blocks
// are for the reader alone. "go test ./test/journey -update" writes what is printed into the page
// and leaves the rest as it is.
package journey
