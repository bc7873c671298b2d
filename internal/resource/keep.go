package resource

// keeps tells whether a document stands for the stored resource.
func (r *reader) keeps(n *node, at *path) bool {
	v := n.get("keep")
	if v == nil {
		return false
	}
	if v.kind != kindBool || v.text != "true" {
		r.add(at.member("keep"), codeValue, "keep is true, for the resource as it is stored, or it is left out")
	}
	return true
}

// kept checks what stands in a document beside keep.
func (r *reader) kept(n *node, d, address *Document, at *path) {
	if address != nil {
		r.add(at.member("keep"), codeKeep, "keep leaves a resource as it is stored, and a PUT writes one: it is for apply and plan")
	}
	if n.get("body") != nil {
		r.add(at.member("body"), codeKeep, "a body writes the resource, keep leaves it as it is stored: one of them has to go")
	}
	d.Body = nil
}
