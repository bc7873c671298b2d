package bootstrap_test

import (
	"crypto/tls"
	"encoding/binary"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
	"sigs.k8s.io/yaml"

	_ "fairlead/internal/envoytypes" // what is in an Any
)

const (
	aggregated   = "/envoy.service.discovery.v3.AggregatedDiscoveryService/"
	pollPath     = "/v3/discovery:"
	listenerType = "type.googleapis.com/envoy.config.listener.v3.Listener"
	clusterType  = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
)

// arrival is a request that reached the server. way is what the client or the configuration called it in x-way, else its
// method, path and kind.
type arrival struct {
	way     string
	headers http.Header
}

// recorder is a control plane that notes all that reaches it. It serves clusters and listeners to streams that are not
// marked with x-way, and refuses everything else.
type recorder struct {
	resources map[string][]*discoveryv3.Resource // by type URL; set before Envoy is started

	mu       sync.Mutex // guards what follows
	arrivals []arrival
	refused  []string // Envoy's words
}

func (r *recorder) seen() ([]arrival, []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.arrivals), slices.Clone(r.refused)
}

// ServeHTTP is http.Handler's.
func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	way := req.Header.Get("x-way")
	own := way == "" && req.Method == http.MethodPost && strings.HasPrefix(req.URL.Path, aggregated) && req.Header.Get("content-type") == "application/grpc"
	if way == "" {
		way = req.Method + " " + req.URL.Path + " " + req.Header.Get("content-type")
	}
	r.mu.Lock()
	r.arrivals = append(r.arrivals, arrival{way, req.Header.Clone()})
	r.mu.Unlock()
	if strings.HasPrefix(way, "POST "+pollPath) {
		r.servePoll(w, req)
		return
	}
	w.Header().Set("content-type", "application/grpc")
	if !own {
		w.Header().Set("grpc-status", "12")
		return
	}
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	if strings.HasSuffix(req.URL.Path, "/DeltaAggregatedResources") {
		r.serveDelta(w, req.Body)
	} else {
		r.serveSotW(w, req.Body)
	}
}

func (r *recorder) serveDelta(w io.Writer, body io.Reader) {
	for n := 1; ; n++ {
		var req discoveryv3.DeltaDiscoveryRequest
		if readFrame(body, &req) != nil {
			return
		}
		if req.GetErrorDetail() != nil {
			r.refuse(req.GetErrorDetail().GetMessage())
		}
		if req.GetResponseNonce() == "" {
			writeFrame(w, &discoveryv3.DeltaDiscoveryResponse{TypeUrl: req.GetTypeUrl(), Nonce: strconv.Itoa(n), Resources: r.resources[req.GetTypeUrl()]})
		}
	}
}

func (r *recorder) serveSotW(w io.Writer, body io.Reader) {
	for n := 1; ; n++ {
		var req discoveryv3.DiscoveryRequest
		if readFrame(body, &req) != nil {
			return
		}
		if req.GetErrorDetail() != nil {
			r.refuse(req.GetErrorDetail().GetMessage())
		}
		if req.GetResponseNonce() != "" {
			continue
		}
		resp := &discoveryv3.DiscoveryResponse{TypeUrl: req.GetTypeUrl(), Nonce: strconv.Itoa(n), VersionInfo: "1"}
		for _, x := range r.resources[req.GetTypeUrl()] {
			resp.Resources = append(resp.Resources, x.GetResource())
		}
		writeFrame(w, resp)
	}
}

// servePoll answers the first poll of a type with all of it, and the others with 304.
func (r *recorder) servePoll(w http.ResponseWriter, req *http.Request) {
	var asked discoveryv3.DiscoveryRequest
	body, err := io.ReadAll(req.Body)
	if err == nil {
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(body, &asked)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if asked.GetVersionInfo() != "" {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	resp := &discoveryv3.DiscoveryResponse{TypeUrl: asked.GetTypeUrl(), VersionInfo: "1"}
	for _, x := range r.resources[asked.GetTypeUrl()] {
		resp.Resources = append(resp.Resources, x.GetResource())
	}
	text, err := protojson.Marshal(resp)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("content-type", "application/json")
	_, _ = w.Write(text)
}

func (r *recorder) refuse(words string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = append(r.refused, words)
}

// readFrame reads a message of gRPC, writeFrame writes one.
func readFrame(r io.Reader, m proto.Message) error {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	return proto.Unmarshal(b, m)
}

func writeFrame(w io.Writer, m proto.Message) {
	b, err := proto.Marshal(m)
	if err != nil {
		return
	}
	_, _ = w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(b))), b...)) //nolint:gosec // small
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// serve starts the recorder, over TLS or in plaintext, and returns its certificate.
func (r *recorder) serve(t *testing.T, plaintext bool) (s *httptest.Server, ca []byte) {
	t.Helper()
	s = httptest.NewUnstartedServer(r)
	if plaintext {
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Config.Protocols.SetHTTP1(true)
		s.Start()
	} else {
		s.EnableHTTP2 = true
		s.TLS = &tls.Config{MinVersion: tls.VersionTLS12} // what Envoy speaks unless it is told
		s.StartTLS()
		ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	}
	t.Cleanup(s.Close)
	return s, ca
}

// resource reads a resource of a type in YAML.
func resource(t *testing.T, typeURL, text string) *discoveryv3.Resource {
	t.Helper()
	j, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	kind, err := protoregistry.GlobalTypes.FindMessageByURL(typeURL)
	if err != nil {
		t.Fatal(err)
	}
	m := kind.New().Interface()
	if err := protojson.Unmarshal(j, m); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	body, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return &discoveryv3.Resource{Name: m.(interface{ GetName() string }).GetName(), Version: "1", Resource: body}
}

// resourceRequest asks for a key.
func resourceRequest() proto.Message {
	return &discoveryv3.DeltaDiscoveryRequest{TypeUrl: "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret", ResourceNamesSubscribe: []string{"key"}}
}
