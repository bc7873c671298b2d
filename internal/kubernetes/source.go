package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// mostPodLabels bounds the labels of pods that are asked for, so that an endpoint's metadata keeps within its limit.
const mostPodLabels = 10

// Config says which Services are meant, and where.
type Config struct {
	Kubeconfig string // a file; "": what kubectl takes, or in a pod its service account
	Context    string // of the kubeconfig; "": its current one
	Namespace  string // "": the context's, or the pod's own

	Services []string // by name
	Selector string   // in place of Services: by their labels, which their EndpointSlices have too

	Port        string   // its name in the Service, or its number at the pods; "": the only one
	AddressType string   // "IPv4" or "IPv6"; "": IPv4 where a Service has it
	PodLabels   []string // which labels of the pods are told

	retry time.Duration // between two tries, in tests; 0: longer and longer ones, up to 10 s
}

// Source watches the EndpointSlices of some Services. Its methods may be called from any goroutine, but Endpoints and Changed are for one.
type Source struct {
	choice    choice
	slices    *mirror[*discoveryv1.EndpointSlice]
	pods      *mirror[map[string]string] // nil: no labels of pods are asked for
	watches   []*cache.Reflector
	transport http.RoundTripper
	wake      chan struct{}

	mu     sync.Mutex       // guards what follows
	failed map[string]error // of each kind of call that failed the last time it was made
}

// New reads the configuration. It asks nothing yet. An error names what is wrong with it.
func New(cfg Config) (*Source, error) {
	quiet()
	selector, err := cfg.selector()
	if err != nil {
		return nil, err
	}
	switch {
	case len(cfg.PodLabels) > mostPodLabels:
		return nil, fmt.Errorf("the labels of pods: give %d at most", mostPodLabels)
	case cfg.AddressType != "" && cfg.AddressType != string(discoveryv1.AddressTypeIPv4) && cfg.AddressType != string(discoveryv1.AddressTypeIPv6):
		return nil, errors.New("the address type: write IPv4 or IPv6")
	}
	rest, namespace, err := cfg.load()
	if err != nil {
		return nil, err
	}
	c, err := newClients(rest)
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig: %w", err)
	}
	s := &Source{
		choice: choice{port: cfg.Port, addressType: discoveryv1.AddressType(cfg.AddressType)}, transport: c.transport,
		wake: make(chan struct{}, 1), failed: map[string]error{},
	}
	s.slices = &mirror[*discoveryv1.EndpointSlice]{take: takeSlice, changed: s.changed}
	s.watch(resource{"endpointslices", namespace}, c.slices(namespace, selector), &discoveryv1.EndpointSlice{}, s.slices, cfg.retry)
	if len(cfg.PodLabels) > 0 {
		s.pods = &mirror[map[string]string]{take: takeLabels(cfg.PodLabels), same: maps.Equal[map[string]string, map[string]string], changed: s.changed}
		s.choice.labels = func(namespace, pod string) map[string]string { return s.pods.get(namespace + "/" + pod) }
		s.watch(resource{"pods", namespace}, c.pods(namespace), &metav1.PartialObjectMetadata{}, s.pods, cfg.retry)
	}
	return s, nil
}

// selector is that of the EndpointSlices: their controller gives them the labels of their Service, and a label with its name.
func (cfg Config) selector() (labels.Selector, error) {
	if len(cfg.Services) == 0 == (cfg.Selector == "") {
		return nil, errors.New("which Services: give names, or a selector of their labels")
	}
	if len(cfg.Services) > 0 {
		of, err := labels.NewRequirement(discoveryv1.LabelServiceName, selection.In, cfg.Services)
		if err != nil {
			return nil, fmt.Errorf("the name of a Service: %w", err)
		}
		return labels.NewSelector().Add(*of), nil
	}
	selector, err := labels.Parse(cfg.Selector)
	if err != nil {
		return nil, fmt.Errorf("the selector: %w", err)
	}
	of, err := labels.NewRequirement(discoveryv1.LabelServiceName, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	return selector.Add(*of), nil
}

// takeSlice keeps a slice without what nobody reads.
func takeSlice(obj any) (*discoveryv1.EndpointSlice, bool) {
	s, ok := obj.(*discoveryv1.EndpointSlice)
	if ok {
		s.ManagedFields, s.Annotations = nil, nil
	}
	return s, ok
}

// takeLabels keeps of a pod the labels of these names.
func takeLabels(names []string) func(obj any) (map[string]string, bool) {
	return func(obj any) (map[string]string, bool) {
		pod, ok := obj.(*metav1.PartialObjectMetadata)
		if !ok {
			return nil, false
		}
		kept := map[string]string{}
		for _, name := range names {
			if v, has := pod.Labels[name]; has {
				kept[name] = v
			}
		}
		return kept, true
	}
}

// watch adds a reflector: it lists, then watches from there, and begins again after a while when that ends.
func (s *Source) watch(what resource, asks cache.ListWatch, of any, into cache.ReflectorStore, retry time.Duration) {
	silent := logr.Discard()
	backoff := wait.Backoff{Duration: 500 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 10, Cap: 10 * time.Second}
	if retry != 0 {
		backoff = wait.Backoff{Duration: retry}
	}
	s.watches = append(s.watches, cache.NewReflectorWithOptions(s.noting(what, asks), of, into, cache.ReflectorOptions{Name: what.name, Logger: &silent, Backoff: &backoff}))
}

// quiet has client-go log nothing: what matters of it is told by Found.
var quiet = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

// Run watches until ctx ends.
func (s *Source) Run(ctx context.Context) {
	ctx = klog.NewContext(ctx, logr.Discard())
	var watching sync.WaitGroup
	for _, r := range s.watches {
		watching.Go(func() { r.RunWithContext(ctx) })
	}
	watching.Wait()
	utilnet.CloseIdleConnectionsFor(s.transport)
}

// changed tells that there is something to look at.
func (s *Source) changed() {
	select {
	case s.wake <- struct{}{}:
	default: // it is told already
	}
}

// Changed has an element when something has changed since Endpoints was called last.
func (s *Source) Changed() <-chan struct{} { return s.wake }

// Found is what is known of the Services.
type Found struct {
	Services map[string][]Endpoint // by name; one that has no endpoints is there too
	Unusable map[string]error      // of those whose slices cannot be used: why
	Trouble  error                 // why what is told may be old; nil: it is not
}

// Endpoints returns what is known. Nothing is before the first lists have come: until then it waits for ctx, and returns why they have not. It
// costs what all slices hold.
func (s *Source) Endpoints(ctx context.Context) (Found, error) {
	for {
		all, listed := s.slices.all()
		if listed && s.pods != nil {
			_, listed = s.pods.all()
		}
		trouble := s.trouble()
		switch {
		case listed:
			return s.find(all, trouble), nil
		case trouble != nil:
			return Found{}, trouble
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return Found{}, errors.New("the Kubernetes API has not answered yet")
		}
	}
}

func (s *Source) find(all []*discoveryv1.EndpointSlice, trouble error) Found {
	found := Found{Services: map[string][]Endpoint{}, Unusable: map[string]error{}, Trouble: trouble}
	for name, of := range byService(all) {
		if endpoints, err := s.choice.of(name, of); err != nil {
			found.Unusable[name] = err
		} else {
			found.Services[name] = endpoints
		}
	}
	return found
}

// note keeps how the last call of a kind ended.
func (s *Source) note(call string, err error) {
	s.mu.Lock()
	_, had := s.failed[call]
	if err == nil {
		delete(s.failed, call)
	} else {
		s.failed[call] = err
	}
	s.mu.Unlock()
	if had != (err != nil) {
		s.changed()
	}
}

// trouble is the first of what failed.
func (s *Source) trouble() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := slices.Sorted(maps.Keys(s.failed))
	if len(calls) == 0 {
		return nil
	}
	return s.failed[calls[0]]
}
