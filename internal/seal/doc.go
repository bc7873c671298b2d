// Package seal keeps secrets at rest: what holds the public key can write a secret that
// only the holder of the private key can read, and only in the place for which it was
// written. The API seals, the xDS servers open. It reads and writes key files and does
// no other I/O.
package seal
