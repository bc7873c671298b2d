package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/kubernetes"
)

const (
	// listWait is how long a turn waits for the first lists: the lease has to be renewed meanwhile.
	listWait = 2 * time.Second
	// onceWait is the same where there is one turn alone.
	onceWait = time.Minute
)

// kubernetesFlags say which Services of which cluster are meant, in the words of kubectl.
type kubernetesFlags struct {
	Kubeconfig  string   `placeholder:"PATH" help:"Of kubernetes: the kubeconfig; else what kubectl takes ($KUBECONFIG, ~/.kube/config), or in a pod its service account."`
	KubeContext string   `placeholder:"NAME" help:"Of kubernetes: a context of the kubeconfig; else its current one."`
	Namespace   string   `placeholder:"NAME" help:"Of kubernetes: where the Services are; else the context's namespace, or the pod's own."`
	Service     []string `placeholder:"NAME" help:"Of kubernetes: a Service. May be given several times, for several clusters under one lease."`
	Selector    string   `placeholder:"LABELS" help:"Of kubernetes: in place of --service, labels of the Services, such as team=shop."`
	AddressType string   `enum:"IPv4,IPv6," default:"" placeholder:"IPv4|IPv6" help:"Of kubernetes: which addresses; else IPv4 where a Service has both."`
	PodLabels   []string `placeholder:"LABEL,..." help:"Of kubernetes: labels of the pods, which become metadata of the endpoints under envoy.lb."`
	Region      string   `placeholder:"NAME" help:"Of kubernetes: the region of the endpoints' localities. Their zones are told by the EndpointSlices."`
}

// kubernetes is the source that these name.
func (f kubernetesFlags) kubernetes(port, cluster string, once bool) (*kubernetesSource, error) {
	switch {
	case len(f.Service) == 0 == (f.Selector == ""):
		return nil, usageError("--source=kubernetes: say with --service which Service is meant, or with --selector which labels")
	case cluster != "" && len(f.Service) != 1:
		return nil, usageError("--cluster: of several Services each has a cluster of its own name: leave it out, or give one --service")
	}
	watched, err := kubernetes.New(kubernetes.Config{
		Kubeconfig: f.Kubeconfig, Context: f.KubeContext, Namespace: f.Namespace, Services: f.Service, Selector: f.Selector,
		Port: port, AddressType: f.AddressType, PodLabels: f.PodLabels,
	})
	if err != nil {
		return nil, usageError("--source=kubernetes: " + err.Error())
	}
	wait := listWait
	if once {
		wait = onceWait
	}
	return &kubernetesSource{Source: watched, cluster: cluster, region: f.Region, wait: wait}, nil
}

// kubernetesSource are the endpoints of Services.
type kubernetesSource struct {
	*kubernetes.Source
	cluster, region string
	wait            time.Duration // for the first lists
	tell            func(words string)
	told            map[string]string // what was told at the last read: by Service, "" is the API
}

// read returns what the watch has told until now. It is an error while nothing has come yet.
func (k *kubernetesSource) read(ctx context.Context) (map[string][]client.EndpointPut, error) {
	ctx, cancel := context.WithTimeout(ctx, k.wait)
	defer cancel()
	found, err := k.Endpoints(ctx)
	if err != nil {
		return nil, err
	}
	k.warn(found)
	out := make(map[string][]client.EndpointPut, len(found.Services))
	for service, endpoints := range found.Services {
		cluster := service
		if k.cluster != "" {
			cluster = k.cluster
		}
		out[cluster] = k.puts(endpoints)
	}
	return out, nil
}

// warn tells what cannot be used, once until it is otherwise.
func (k *kubernetesSource) warn(found kubernetes.Found) {
	now := map[string]string{}
	if found.Trouble != nil {
		now[""] = found.Trouble.Error()
	}
	for service, err := range found.Unusable {
		now[service] = err.Error()
	}
	for _, about := range slices.Sorted(maps.Keys(now)) {
		if had, told := k.told[about]; !told || about != "" && had != now[about] {
			k.tell("warning: " + strings.TrimRight(now[about], ".") + "; what was read before stays")
		}
	}
	k.told = now
}

// puts writes endpoints as the API takes them.
func (k *kubernetesSource) puts(endpoints []kubernetes.Endpoint) []client.EndpointPut {
	out := make([]client.EndpointPut, 0, len(endpoints))
	for _, e := range endpoints {
		put := client.EndpointPut{Address: e.Address}
		if k.region != "" || e.Zone != "" {
			put.Locality = &client.EndpointLocality{}
			if k.region != "" {
				put.Locality.Region = &k.region
			}
			if e.Zone != "" {
				put.Locality.Zone = &e.Zone
			}
		}
		health := client.Healthy
		if e.Draining {
			health = client.Draining
		}
		put.Health = &health
		if len(e.Labels) > 0 {
			lb := map[string]any{}
			for name, value := range e.Labels {
				lb[name] = value
			}
			put.Metadata = &client.EndpointMetadata{"envoy.lb": lb}
		}
		out = append(out, put)
	}
	return out
}
