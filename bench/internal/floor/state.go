package floor

import (
	"slices"
	"strconv"
	"sync"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"fairlead/bench/internal/fleet"
	"fairlead/bench/internal/xds"
)

// once is a response without a nonce that is encoded when it is first asked for.
type once = func() (mem.SliceBuffer, error)

// state is one version of all resources of a kind. It is immutable.
type state struct {
	kind    xds.Kind
	version string // of the resources that it changed, too
	before  string // the version that it changed; "" is none
	any     []*anypb.Any
	named   []*discoveryv3.Resource

	full    [2]once // all resources; in SotW and in delta
	changed [2]once // those that changed since before
	empty   [2]once
}

// newState derives from last, which may be nil, with the resources at the given indices
// taken from f.
func newState(last *state, f *fleet.Fleet, k xds.Kind, changed []int) (*state, error) {
	s := &state{kind: k, version: "v" + strconv.FormatUint(f.Epoch, 10)}
	if last != nil {
		s.before, s.any, s.named = last.version, slices.Clone(last.any), slices.Clone(last.named)
	} else {
		s.any, s.named = make([]*anypb.Any, len(f.Names[k])), make([]*discoveryv3.Resource, len(f.Names[k]))
	}
	var some []*anypb.Any
	var someNamed []*discoveryv3.Resource
	for _, i := range changed {
		value, err := proto.Marshal(f.Resources[k][i])
		if err != nil {
			return nil, err
		}
		s.any[i] = &anypb.Any{TypeUrl: k.TypeURL(), Value: value}
		s.named[i] = &discoveryv3.Resource{Name: f.Names[k][i], Version: s.version, Resource: s.any[i]}
		some, someNamed = append(some, s.any[i]), append(someNamed, s.named[i])
	}
	s.full, s.changed, s.empty = s.encode(s.any, s.named), s.encode(some, someNamed), s.encode(nil, nil)
	return s, nil
}

func (s *state) encode(res []*anypb.Any, named []*discoveryv3.Resource) [2]once {
	return [2]once{
		sync.OnceValues(func() (mem.SliceBuffer, error) {
			return proto.Marshal(&discoveryv3.DiscoveryResponse{VersionInfo: s.version, Resources: res, TypeUrl: s.kind.TypeURL()})
		}),
		sync.OnceValues(func() (mem.SliceBuffer, error) {
			return proto.Marshal(&discoveryv3.DeltaDiscoveryResponse{SystemVersionInfo: s.version, Resources: named, TypeUrl: s.kind.TypeURL()})
		}),
	}
}
