// Package docdiff compares two canonical documents and tells the difference to programs, as
// a list of changes, and to people, as a unified diff of their YAML. Documents are JSON; the
// order of an object's members is none of a document's content and never shows. What must
// not be seen has to be out of the documents before they come here.
package docdiff
