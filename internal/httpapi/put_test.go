package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"fairlead/internal/httpapi/oapi"
)

func TestAPutTellsWhetherItCreated(t *testing.T) {
	t.Parallel()
	w := setup(t)
	path := w.at("resources", "clusters", "a")
	var out oapi.WriteResult
	if w.do(http.MethodPut, path, asDocument(cluster("a"))).is(201, &out).header.Get("ETag") != *out.Resources[0].Etag {
		t.Error("a creation without its ETag")
	}
	w.do(http.MethodPut, path, asDocument(cluster("a"))).is(200, nil)
	w.do(http.MethodPut, path, asDocument(clusterWith("a", "2s"))).is(200, nil)
	w.do(http.MethodPut, path, asDocument(clusterWith("a", "2s"))).is(200, nil)
	w.do(http.MethodPut, path+"?variant=eu", `{"selector": "node.id=x", "body": `+cluster("a")+`}`).is(201, nil)
	w.do(http.MethodDelete, path, "").is(200, nil)
	w.do(http.MethodPut, path, asDocument(clusterWith("a", "2s"))).is(201, nil)
}

func TestAWriteOfOneHasAMessage(t *testing.T) {
	t.Parallel()
	w := setup(t)
	path := w.at("resources", "clusters", "a")
	w.do(http.MethodPut, path+"?message=new%20backend", asDocument(cluster("a"))).is(201, nil)
	w.do(http.MethodDelete, path+"?message=moved", "").is(200, nil)
	var list oapi.RevisionList
	w.do(http.MethodGet, w.at("revisions"), "").is(200, &list)
	if len(list.Items) != 2 || deref(list.Items[0].Message) != "moved" || deref(list.Items[1].Message) != "new backend" {
		t.Errorf("%+v", list.Items)
	}
	for _, bad := range []string{strings.Repeat("x", 1025), strings.Repeat("%C3%BC", 513), "%00", "-----BEGIN%20PRIVATE%20KEY-----%0AMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg"} {
		w.do(http.MethodPut, path+"?message="+bad, asDocument(cluster("a"))).isProblem(400, "invalid_request", "?message")
		w.do(http.MethodDelete, path+"?message="+bad, "").isProblem(400, "invalid_request", "?message")
	}
}

// A repeat is told by all that was sent, and gets the first one's answer, whatever came after.
func TestAWriteOfOneIsMadeOncePerKey(t *testing.T) {
	t.Parallel()
	w := setup(t)
	path := w.at("resources", "clusters", "a")
	first := w.do(http.MethodPut, path+"?message=m", asDocument(cluster("a")), "Idempotency-Key", "k", "If-None-Match", "*").is(201, nil)
	w.do(http.MethodPut, path, asDocument(clusterWith("a", "2s"))).is(200, nil)
	again := w.do(http.MethodPut, path+"?message=m", asDocument(cluster("a")), "Idempotency-Key", "k", "If-None-Match", "*").is(201, nil)
	if string(first.body) != string(again.body) || first.header.Get("ETag") != again.header.Get("ETag") {
		t.Errorf("first %s, again %s", first.body, again.body)
	}
	other := func(method, path, body string, headers ...string) {
		t.Helper()
		w.do(method, path, body, append(headers, "Idempotency-Key", "k")...).isProblem(422, "idempotency_key_reused", "?Idempotency-Key")
	}
	other(http.MethodPut, path+"?message=m", asDocument(cluster("a")))
	other(http.MethodPut, path, asDocument(cluster("a")), "If-None-Match", "*")
	other(http.MethodPut, path+"?message=m", asDocument(clusterWith("a", "2s")), "If-None-Match", "*")
	other(http.MethodPut, path+"?message=m", asDocument(cluster("a")), "If-Match", "*")
	other(http.MethodPut, w.at("resources", "clusters", "b")+"?message=m", asDocument(cluster("b")), "If-None-Match", "*")
	other(http.MethodDelete, path+"?message=m", "")

	gone := w.do(http.MethodDelete, path, "", "Idempotency-Key", "d").is(200, nil)
	w.do(http.MethodPut, path, asDocument(cluster("a"))).is(201, nil)
	if again := w.do(http.MethodDelete, path, "", "Idempotency-Key", "d").is(200, nil); string(gone.body) != string(again.body) {
		t.Errorf("first %s, again %s", gone.body, again.body)
	}
	w.do(http.MethodGet, path, "").is(200, nil)
}

// What is absent is deleted already: a DELETE, an apply and a plan say it alike, and change nothing.
func TestWhatIsAbsentIsDeletedAlready(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.put("gone")
	path := w.at("resources", "clusters", "gone")
	var out oapi.WriteResult
	w.do(http.MethodDelete, path, "").is(200, &out)
	if out.Revision != 3 || out.Warnings != nil {
		t.Errorf("deleted: %+v", out)
	}
	for _, name := range []string{"gone", "never"} {
		body := `{"delete": [{"type": "clusters", "name": "` + name + `"}]}`
		for what, a := range map[string]answer{
			"": w.do(http.MethodDelete, w.at("resources", "clusters", name), ""), "/delete/0": w.do(http.MethodPost, w.at("apply"), body),
		} {
			out = oapi.WriteResult{}
			a.is(200, &out)
			if out.Revision != 3 || out.Changed != 0 || len(deref(out.Warnings)) != 1 {
				t.Fatalf("%s of %s: %s", a.what, name, a.body)
			}
			if f := (*out.Warnings)[0]; f.Code != "absent" || *f.Pointer != what || !strings.Contains(f.Detail, `no clusters "`+name+`"`) {
				t.Errorf("%s of %s: %+v", a.what, name, f)
			}
		}
		var p oapi.Plan
		w.do(http.MethodPost, w.at("plan"), body).is(200, &p)
		if p.Counts.Unchanged != 1 || len(deref(p.Warnings)) != 1 || (*p.Warnings)[0].Code != "absent" {
			t.Errorf("planned: %+v", p)
		}
		w.do(http.MethodDelete, w.at("resources", "clusters", name), "", "If-Match", "*").isProblem(412, "precondition_failed", "?If-Match")
	}
	var both oapi.WriteResult
	w.do(http.MethodPost, w.at("apply"), `{"delete": [{"type": "clusters", "name": "a"}, {"type": "clusters", "name": "never"}]}`).is(200, &both)
	if both.Changed != 1 || len(*both.Warnings) != 1 || *(*both.Warnings)[0].Pointer != "/delete/1" {
		t.Errorf("one of two: %+v", both)
	}
}

// A document may carry the etag that it was read at, as it may the revision.
func TestADocumentsETag(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	path := w.at("resources", "clusters", "a")
	var read oapi.Resource
	tag := w.do(http.MethodGet, path, "").is(200, &read).header.Get("ETag")
	if read.Etag != tag {
		t.Errorf("the etag is %q, the header %q", read.Etag, tag)
	}
	mine := func(tag string) string { return `{"etag": ` + tag + `, "body": ` + clusterWith("a", "5s") + `}` }
	quoted := `"\"` + strings.Trim(tag, `"`) + `\""`
	inApply := func(tag string) string {
		return `{"resources": [{"type": "clusters", "name": "a", ` + mine(tag)[1:] + `]}`
	}
	w.do(http.MethodPut, path, asDocument(clusterWith("a", "9s"))).is(200, nil)
	for _, stale := range []string{tag, quoted} {
		p := w.do(http.MethodPut, path, mine(stale)).isProblem(412, "precondition_failed", "/etag")
		if f := (*p.Errors)[0]; f.LastChange == nil || f.LastChange.Revision != 2 || f.LastChange.Actor != "owner" {
			t.Errorf("%+v", f)
		}
		w.do(http.MethodPost, w.at("apply"), inApply(stale)).isProblem(412, "precondition_failed", "/resources/0/etag")
		w.do(http.MethodPost, w.at("plan"), inApply(stale)).isProblem(412, "precondition_failed", "/resources/0/etag")
	}
	w.do(http.MethodPut, path, `{"etag": `+tag+`, "body": `+clusterWith("a", "9s")+`}`).is(200, nil) // it is what is there
	w.do(http.MethodGet, path, "").is(200, &read)
	w.do(http.MethodPut, path, mine(`"2-00000000"`)).isProblem(412, "precondition_failed", "/etag") // of a history that was lost
	w.do(http.MethodPut, path, mine(read.Etag)).is(200, nil)
	w.do(http.MethodPut, w.at("resources", "clusters", "b"), `{"etag": "7-1a2b3c4d", "body": `+cluster("b")+`}`).isProblem(412, "precondition_failed", "/etag")
	for _, bad := range []string{`7`, `""`, `"7"`, `"x-1a2b3c4d"`, `"*"`} {
		w.do(http.MethodPut, path, mine(bad)).isProblem(422, "invalid_resource", "/etag")
	}
}

func TestAFleetsDescriptionCanBeChanged(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var f oapi.Fleet
	w.do(http.MethodPatch, w.at(), `{"description": "at the edge"}`).is(200, &f)
	if f.Description != "at the edge" {
		t.Errorf("%+v", f)
	}
	w.do(http.MethodPatch, w.at(), `{"references": "strict"}`).is(200, &f)
	if f.Description != "at the edge" {
		t.Errorf("left alone it is %q", f.Description)
	}
	w.do(http.MethodPatch, w.at(), `{"description": ""}`).is(200, &f)
	if f.Description != "" {
		t.Errorf("taken off it is %q", f.Description)
	}
	w.do(http.MethodPatch, w.at(), `{"description": "`+strings.Repeat("ü", 2049)+`"}`).isProblem(400, "invalid_request", "/description")
}
