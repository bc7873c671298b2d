package main

import "testing"

func TestValidate(t *testing.T) {
	t.Parallel()
	w := setup(t)
	good := w.file("good.yaml", oneCluster+"---\ntype: secrets\nname: s\nkeep: true\n---\ntype: secrets\nname: g\nbody: {name: g, generic_secret: {secret: {inline_string: x}}}\n")
	w.bare("", "validate", "-f", good).want(t, exitOK, "the API would take 3 documents\n", "")
	w.bare("", "validate", "--json", "-f", good).want(t, exitOK, indented(t, `{"valid": true, "documents": 3, "errors": [], "warnings": []}`), "")
	warned := w.file("warned.yaml", "type: routes\nname: r\nttl: 30s\nbody: {name: r}\n")
	r := w.bare("", "validate", "-f", warned)
	if r.code != exitOK || r.out != "the API would take 1 document\n" || len(r.err) < 20 || r.err[:len("warning: DIR/warned.yaml:3: /ttl: ")] != "warning: DIR/warned.yaml:3: /ttl: " {
		t.Errorf("%+v", r)
	}
	bad := w.file("bad.yaml", "type: clusters\nname: a\nbody:\n  name: b\n  connect_timeout: soon\n---\ntype: cluster\nname: c\n")
	w.bare("", "validate", "-f", bad).want(t, exitFailed, "", `fairlead: 2 things in the files are wrong, nothing was sent
  DIR/bad.yaml:7: /type: the type of a resource is one of clusters, endpoints, secrets, listeners, routes, scoped-routes, virtual-hosts, runtimes, extensions
  DIR/bad.yaml:7: /body: body is missing: Envoy's message belongs there; or send the message itself, with "@type"
`)
	bad = w.file("bad.yaml", "type: clusters\nname: a\nbody:\n  name: b\n")
	say := `DIR/bad.yaml:4: /body/name: the name inside the message differs from the resource's name, "a"`
	w.bare("", "validate", "-f", bad).want(t, exitFailed, "", "fairlead: "+say+"\n")
	w.bare("", "validate", "--json", "-f", bad).want(t, exitFailed, indented(t, `{"valid": false, "documents": 1, "errors": [`+quote(say)+`], "warnings": []}`), "")
	w.bare("", "validate", "-f", w.dir+"/none").want(t, exitFailed, "", "fairlead: open DIR/none: no such file or directory\n")
	if len(w.sent) > 0 {
		t.Error("a server was asked")
	}
}
