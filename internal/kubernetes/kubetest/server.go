package kubetest

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// token is what the account of the tests proves itself with.
const token = "a-service-accounts-token"

// change is one that watches tell.
type change struct {
	version   int64
	resource  string
	old, next metav1.Object // nil: there was, or is, none
}

// Server is the API of one cluster.
type Server struct {
	t    *testing.T
	http *httptest.Server

	mu      sync.Mutex // guards what follows
	version int64
	objects map[string]map[string]metav1.Object // by resource, then by namespace/name
	changes []change
	oldest  int64               // watches that begin before this version are told that it is gone
	rules   []rbacv1.PolicyRule // what the account may do; nil: all
	away    bool                // connections break
	held    chan struct{}       // lists wait until it is closed; nil: they do not
	cut     chan struct{}       // is closed to end all watches
	news    chan struct{}       // is closed at the next change
	asked   []string            // "VERB RESOURCE SELECTOR", in order
	asking  chan struct{}       // is closed at the next question
}

// New starts one. It ends with the test.
func New(t *testing.T) *Server {
	t.Helper()
	s := &Server{t: t, version: 100, objects: map[string]map[string]metav1.Object{"endpointslices": {}, "pods": {}}, cut: make(chan struct{}), news: make(chan struct{}), asking: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, schema.GroupResource{Group: "discovery.k8s.io", Resource: "endpointslices"})
	})
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/pods", func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, schema.GroupResource{Resource: "pods"}) })
	s.http = httptest.NewUnstartedServer(mux)
	s.http.EnableHTTP2, s.http.Config.ErrorLog = true, log.New(io.Discard, "", 0)
	s.http.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	s.http.StartTLS()
	t.Cleanup(func() {
		s.Cut()
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Kubeconfig writes one whose current context is of this cluster and of the namespace, and returns its path.
func (s *Server) Kubeconfig(namespace string) string {
	s.t.Helper()
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.http.Certificate().Raw}))
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: tests
contexts: [{name: tests, context: {cluster: tests, user: feed, namespace: %q}}, {name: strangers, context: {cluster: tests, user: stranger}}]
clusters: [{name: tests, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: feed, user: {token: %s}}, {name: stranger, user: {token: another}}]
`, namespace, s.http.URL, ca, token)
	path := filepath.Join(s.t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// Allow has the account do no more than the rules say.
func (s *Server) Allow(rules []rbacv1.PolicyRule) { s.set(func() { s.rules = rules }) }

// Away has all connections break, or not any more.
func (s *Server) Away(away bool) {
	s.set(func() { s.away = away })
	if away {
		s.Cut()
		s.http.CloseClientConnections()
	}
}

// Hold has lists wait until release is called.
func (s *Server) Hold() (release func()) {
	held := make(chan struct{})
	s.set(func() { s.held = held })
	return sync.OnceFunc(func() {
		s.set(func() { s.held = nil })
		close(held)
	})
}

// Cut ends all watches, as a server does that is replaced.
func (s *Server) Cut() {
	s.set(func() {
		close(s.cut)
		s.cut = make(chan struct{})
	})
}

// Forget drops what watches could be told of the past: whoever comes back is told 410.
func (s *Server) Forget() { s.set(func() { s.version++; s.oldest, s.changes = s.version, nil }) }

// Asked returns what was asked, as "list endpointslices SELECTOR".
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Await waits until what was asked is as f wants it.
func (s *Server) Await(f func(asked []string) bool) {
	s.t.Helper()
	for {
		s.mu.Lock()
		asked, asking := slices.Clone(s.asked), s.asking
		s.mu.Unlock()
		if f(asked) {
			return
		}
		select {
		case <-asking:
		case <-s.t.Context().Done():
			s.t.Fatalf("the test ended, and it was asked %q", asked)
		}
	}
}

func (s *Server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// PutSlice writes an EndpointSlice.
func (s *Server) PutSlice(slice *discoveryv1.EndpointSlice) {
	slice = slice.DeepCopy()
	slice.TypeMeta = metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"}
	s.put("endpointslices", slice)
}

// DeleteSlice deletes one.
func (s *Server) DeleteSlice(namespace, name string) { s.remove("endpointslices", namespace+"/"+name) }

// PutPod writes a pod. Of pods the metadata is all that anybody asks for.
func (s *Server) PutPod(namespace, name string, labels map[string]string) {
	s.put("pods", &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
	})
}

// put stores an object, which nobody changes any more.
func (s *Server) put(resource string, o metav1.Object) {
	s.set(func() {
		s.version++
		o.SetResourceVersion(strconv.FormatInt(s.version, 10))
		key := o.GetNamespace() + "/" + o.GetName()
		s.changes = append(s.changes, change{s.version, resource, s.objects[resource][key], o})
		s.objects[resource][key] = o
		s.tell()
	})
}

func (s *Server) remove(resource, key string) {
	s.set(func() {
		s.version++
		s.changes = append(s.changes, change{s.version, resource, s.objects[resource][key], nil})
		delete(s.objects[resource], key)
		s.tell()
	})
}

// tell wakes the watches; the lock is held.
func (s *Server) tell() {
	close(s.news)
	s.news = make(chan struct{})
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, of schema.GroupResource) {
	verb, q := "list", r.URL.Query()
	if q.Get("watch") == "true" || q.Get("watch") == "1" {
		verb = "watch"
	}
	selector, err := labels.Parse(q.Get("labelSelector"))
	if err != nil {
		fail(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, strings.TrimSpace(verb+" "+of.Resource+" "+selector.String()))
	close(s.asking)
	s.asking = make(chan struct{})
	away, allowed, held := s.away, s.allowed(verb, of), s.held
	s.mu.Unlock()
	switch {
	case away:
		panic(http.ErrAbortHandler)
	case r.Header.Get("Authorization") != "Bearer "+token:
		fail(w, apierrors.NewUnauthorized("Unauthorized"))
	case !allowed:
		fail(w, apierrors.NewForbidden(of, "", fmt.Errorf("User \"system:serviceaccount:shop:feed\" cannot %s resource %q in API group %q in the namespace %q", verb, of.Resource, of.Group, r.PathValue("namespace")))) //nolint:staticcheck // as a kube-apiserver says it
	case of.Resource == "pods" && !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata"):
		fail(w, apierrors.NewBadRequest("this API has the metadata of pods alone"))
	case verb == "watch":
		s.watch(w, r, of.Resource, selector)
	default:
		if held != nil {
			select {
			case <-held:
			case <-r.Context().Done():
				return
			}
		}
		s.list(w, of.Resource, r.PathValue("namespace"), selector)
	}
}

func (s *Server) allowed(verb string, of schema.GroupResource) bool {
	return s.rules == nil || slices.ContainsFunc(s.rules, func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.Verbs, verb) && slices.Contains(r.APIGroups, of.Group) && slices.Contains(r.Resources, of.Resource)
	})
}

func (s *Server) list(w http.ResponseWriter, resource, namespace string, selector labels.Selector) {
	s.mu.Lock()
	items := []metav1.Object{}
	for _, key := range slices.Sorted(maps.Keys(s.objects[resource])) {
		if o := s.objects[resource][key]; matches(o, namespace, selector) {
			items = append(items, o)
		}
	}
	kind := map[string]metav1.TypeMeta{
		"endpointslices": {APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSliceList"},
		"pods":           {APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"},
	}[resource]
	answer := map[string]any{"apiVersion": kind.APIVersion, "kind": kind.Kind, "metadata": map[string]any{"resourceVersion": strconv.FormatInt(s.version, 10)}, "items": items}
	b, err := json.Marshal(answer)
	s.mu.Unlock()
	if err != nil {
		s.t.Error(err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b)
}

func matches(o metav1.Object, namespace string, selector labels.Selector) bool {
	return o != nil && o.GetNamespace() == namespace && selector.Matches(labels.Set(o.GetLabels()))
}

// watch tells each change after the version that is asked for, until it is cut.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, resource string, selector labels.Selector) {
	from, err := strconv.ParseInt(r.URL.Query().Get("resourceVersion"), 10, 64)
	if err != nil {
		fail(w, apierrors.NewBadRequest("resourceVersion: "+err.Error()))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	_ = out.Flush()
	s.mu.Lock()
	cut := s.cut
	s.mu.Unlock()
	for {
		s.mu.Lock()
		gone, news := from < s.oldest, s.news
		var told []change
		for _, c := range s.changes {
			if c.version > from && c.resource == resource {
				told = append(told, c)
			}
		}
		s.mu.Unlock()
		if gone {
			event(w, "ERROR", apierrors.NewResourceExpired("too old resource version: "+strconv.FormatInt(from, 10)).Status())
			return
		}
		for _, c := range told {
			from = c.version
			switch was, is := matches(c.old, r.PathValue("namespace"), selector), matches(c.next, r.PathValue("namespace"), selector); {
			case was && is:
				event(w, "MODIFIED", c.next)
			case is:
				event(w, "ADDED", c.next)
			case was:
				event(w, "DELETED", c.old)
			}
		}
		_ = out.Flush()
		select {
		case <-news:
		case <-cut:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func event(w http.ResponseWriter, kind string, object any) {
	if s, is := object.(metav1.Status); is {
		s.APIVersion, s.Kind = "v1", "Status"
		object = s
	}
	b, _ := json.Marshal(map[string]any{"type": kind, "object": object})
	_, _ = w.Write(append(b, '\n'))
}

func fail(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.Status()
	status.APIVersion, status.Kind = "v1", "Status"
	b, _ := json.Marshal(status)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_, _ = w.Write(b)
}
