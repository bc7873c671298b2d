// Package findings says what is wrong, or soon will be, in what a fleet holds as a whole:
// resources that name what is not there, certificates that expire, domains that stand twice,
// resources that nobody uses, variants that no node gets. It does no I/O.
//
// resource.FactsOf reads what counts out of one body and depends on that alone, so facts
// can be kept under a resource's version. Check compares the facts of a whole fleet; its cost is
// linear in them and in the nodes' labels.
package findings
