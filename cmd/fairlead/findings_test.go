package main

import "testing"

func TestFindingsCommand(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const one = `{"code": "missing_reference", "severity": "error", "type": "routes", "name": "r", "variant": "eu", "pointer": "/body/x", "to": {"type": "clusters", "name": "c"}, "detail": "write it\u001b[2J"}`
	const two = `{"code": "unreachable", "severity": "info", "type": "clusters", "name": "d", "pointer": "", "detail": "delete it"}`
	const counts = `"revision": 7, "errors": 1, "warnings": 0, "infos": 2`
	w.on("GET", "/findings", ok(`{`+counts+`, "items": [`+one+`], "next_cursor": "n"}`), ok(`{`+counts+`, "items": [`+two+`]}`), ok(`{`+counts+`, "items": [`+two+`]}`),
		ok(`{"revision": 8, "errors": 0, "warnings": 0, "infos": 0, "items": []}`), problemReply(404, "not_found", "no"))
	w.run("findings").want(t, exitOK, `SEVERITY  RESOURCE       AT       FINDING            WHAT TO DO
error     routes/r (eu)  /body/x  missing_reference  write it[2J
info      clusters/d     -        unreachable        delete it
revision 7: 1 error, 2 infos
`, "")
	w.run("findings", "--json", "--severity=info").want(t, exitOK, `{
  "items": [
    {
      "code": "unreachable",
      "severity": "info",
      "type": "clusters",
      "name": "d",
      "pointer": "",
      "detail": "delete it"
    }
  ],
  "revision": 7,
  "errors": 1,
  "warnings": 0,
  "infos": 2
}
`, "")
	w.run("findings").want(t, exitOK, "revision 8: no findings\n", "")
	if r := w.run("findings"); r.code != exitFailed || r.out != "" {
		t.Errorf("%+v", r)
	}
	if r := w.run("findings", "-n=-1"); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
	if r := w.run("findings", "--severity=bad"); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
}
