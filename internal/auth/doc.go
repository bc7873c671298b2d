// Package auth decides who a caller is allowed to be: the shape of tokens, roles and
// what they may do, and the node ids that a credential admits. It does no I/O and
// keeps no state; where tokens are looked up is the business of the store.
package auth
