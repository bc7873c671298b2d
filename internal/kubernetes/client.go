package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// listTimeout bounds a list: a server that takes it and does not answer is asked again.
	listTimeout = time.Minute
	// watchGrace is how much longer than asked for a watch may last.
	watchGrace = 30 * time.Second
)

// load finds how the API is reached, as kubectl does, or as a pod does.
func (cfg Config) load() (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath, rules.WarnIfAllMissing = cfg.Kubeconfig, false
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: cfg.Context})
	found, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", errors.New("there is no kubeconfig, and this is no pod with a service account: say where one is")
	}
	if err != nil {
		return nil, "", fmt.Errorf("the kubeconfig: %w", err)
	}
	namespace := cfg.Namespace
	if namespace == "" {
		if namespace, _, err = loader.Namespace(); err != nil {
			return nil, "", fmt.Errorf("the kubeconfig: %w", err)
		}
	}
	found = rest.CopyConfig(found)
	found.UserAgent, found.WarningHandlerWithContext = "fairlead-discover", rest.NoWarnings{}
	return found, namespace, nil
}

// codecs knows EndpointSlices, and the errors of the API. That of client-go's own clients knows every kind there is, which is most of client-go's size.
var codecs = sync.OnceValue(func() serializer.CodecFactory {
	known := runtime.NewScheme()
	metav1.AddToGroupVersion(known, schema.GroupVersion{Version: "v1"})
	utilruntime.Must(discoveryv1.AddToScheme(known))
	return serializer.NewCodecFactory(known)
})

// clients ask for the two kinds of objects, over the same connections.
type clients struct {
	endpointSlices rest.Interface
	metadata       metadata.Interface // asks for pods without their spec and status
	transport      http.RoundTripper
}

func newClients(cfg *rest.Config) (c clients, err error) {
	over, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return c, err
	}
	c.transport = over.Transport
	slices := rest.CopyConfig(cfg)
	slices.APIPath, slices.GroupVersion, slices.NegotiatedSerializer = "/apis", &discoveryv1.SchemeGroupVersion, codecs().WithoutConversion()
	if c.endpointSlices, err = rest.RESTClientForConfigAndClient(slices, over); err != nil {
		return c, err
	}
	c.metadata, err = metadata.NewForConfigAndClient(cfg, over)
	return c, err
}

// slices asks for the EndpointSlices of a namespace with these labels.
func (c clients) slices(namespace string, selector labels.Selector) cache.ListWatch {
	return *cache.NewFilteredListWatchFromClient(c.endpointSlices, "endpointslices", namespace, func(o *metav1.ListOptions) { o.LabelSelector = selector.String() })
}

// pods asks for the metadata of all pods of a namespace: which of them a Service has is known only when its EndpointSlices have come.
func (c clients) pods(namespace string) cache.ListWatch {
	of := c.metadata.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(namespace)
	return cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return of.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return of.Watch(ctx, o) },
	}
}

// resource is a kind of objects in a namespace.
type resource struct{ name, namespace string }

// listThenWatch has a reflector list, then watch. The other way, one watch for both, is not known to each server, and waits without regard to the context.
type listThenWatch struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is asked by the reflector.
func (listThenWatch) IsWatchListSemanticsUnSupported() bool { return true }

// noting asks in bounded time, and notes how each call ended.
func (s *Source) noting(what resource, asks cache.ListWatch) listThenWatch {
	return listThenWatch{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			bounded, cancel := context.WithTimeout(ctx, listTimeout)
			defer cancel()
			list, err := asks.ListWithContext(bounded, o)
			s.ended(ctx, "list", what, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			bounded, cancel := ctx, context.CancelFunc(func() {})
			if o.TimeoutSeconds != nil {
				bounded, cancel = context.WithTimeout(ctx, time.Duration(*o.TimeoutSeconds)*time.Second+watchGrace)
			}
			w, err := asks.WatchWithContext(bounded, o)
			s.ended(ctx, "watch", what, err)
			if err != nil {
				cancel()
				return nil, err
			}
			return &boundedWatch{w, cancel}, nil
		},
	}}
}

// boundedWatch lets go of its context when it is stopped.
type boundedWatch struct {
	watch.Interface
	cancel context.CancelFunc
}

// Stop ends the watch.
func (w *boundedWatch) Stop() {
	w.Interface.Stop()
	w.cancel()
}

// ended notes how a call ended. That a watch cannot begin where the last one ended is no trouble: a list follows.
func (s *Source) ended(ctx context.Context, verb string, what resource, err error) {
	switch {
	case ctx.Err() != nil, apierrors.IsResourceExpired(err), apierrors.IsGone(err):
		return
	case err != nil:
		err = inWords(verb, what, err)
	}
	s.note(verb+" "+what.name, err)
}

// inWords says what is to be done about an error of the API.
func inWords(verb string, what resource, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the Kubernetes API does not let this account %s the %s of the namespace %s; deploy/kubernetes/discover.yaml has the Role that does: %w", verb, what.name, what.namespace, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the Kubernetes API does not know this account: %w", err)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("the Kubernetes API has no %s of discovery.k8s.io/v1: it has to be 1.21 or newer: %w", what.name, err)
	}
	return fmt.Errorf("the Kubernetes API: %w", err)
}
