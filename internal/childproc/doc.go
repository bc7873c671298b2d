// Package childproc runs a program as a child that does not outlive us: it is stopped
// in order when we end in order, and it is ended by the kernel (Linux) or found and
// ended by our next start (elsewhere) when we are killed.
package childproc
