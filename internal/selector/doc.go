// Package selector decides which nodes a variant of a resource is for: the label
// selectors, their grammar, an index over many of them, and which variant wins. It is
// pure: no I/O, no state, and everything that it returns may be shared.
//
// A selector is a list of requirements, joined by commas, all of which must hold. It is
// the form that Kubernetes made known, with quoted texts and a prefix operator:
//
//	selector    = requirement *( "," requirement )
//	requirement = key                                the node has the label
//	            | "!" key                            it has not
//	            | key ( "=" | "==" ) value           it has it, with this text
//	            | key "!=" value                     it has another text, or no such label
//	            | key "^=" value                     it has it, and its text begins so
//	            | key "in" "(" value *( "," value ) ")"
//	            | key "notin" "(" value *( "," value ) ")"    or no such label
//	key         = "node.id" | "node.cluster" | "locality.region" | "locality.zone"
//	            | "locality.sub_zone" | "client.name" | "client.version"
//	            | "metadata" 1*( "." name )          a path into the node's metadata
//	name        = 1*( letter | digit | "_" | "-" ) | quoted
//	value       = 1*( letter | digit | one of -_./:@~+%#[] ) | quoted
//	quoted      = a JSON string
//
// Letters and digits are those of every script, in a value symbols outside ASCII too.
// Space, tab and line ends may stand between these parts and nowhere inside of one. What
// could be read in another way has to be quoted: a * that is no wildcard here, a ~ at the
// start of a value (=~ is no operator), a / in a name, the $ and {} of a template that
// nobody filled in. So has a character that cannot be seen, as \u and its number, and
// an empty value.
//
// A field that a node leaves empty is a label that it does not have; an empty text in
// its metadata is one. Labels in metadata are texts, numbers and booleans. A number is
// compared as JSON writes the double that it is (5, never 5.0; 1e+21), a boolean as true
// or false. Null, objects, lists, and a path that ends in nothing count as absent. Texts
// are compared byte by byte.
//
// Limits: 1 KiB of text, as it is sent and as it is stored; 32 requirements; 16 names in
// a path.
//
// A selector is not a security boundary: all labels are the node's own claim.
package selector
