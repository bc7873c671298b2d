// Package write decides of a write, before it is made, what its caller may not do: by the guard rules, and by the Secrets that it uses. It
// says too whether a write is the one that was planned. It asks nobody: what it decides by was read before.
package write
