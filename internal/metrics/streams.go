package metrics

import (
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead/internal/fleet"
)

// Protocol is how a stream speaks.
type Protocol int

// The protocols.
const (
	Delta Protocol = iota
	SotW
	REST // polls

	numProtocols = 3
)

var protocolNames = [numProtocols]string{Delta: "delta", SotW: "sotw", REST: "rest"}

// client is what a stream's client is, as its node says.
type client int

const (
	envoy client = iota
	grpcGo
	grpcCore
	grpcJava
	grpcNode
	fairleadSync
	otherClient

	numClients = 7
)

var clientNames = [numClients]string{
	envoy: "envoy", grpcGo: "grpc-go", grpcCore: "grpc-c++", grpcJava: "grpc-java", grpcNode: "grpc-node", fairleadSync: "fairlead-sync", otherClient: other,
}

// clientPrefixes begin the user agents of nodes.
var clientPrefixes = [...]struct {
	prefix string
	client client
}{
	{"envoy", envoy}, {"gRPC Go", grpcGo}, {"gRPC C-core", grpcCore}, {"gRPC Java", grpcJava}, {"gRPC Node", grpcNode}, {"fairlead-sync", fairleadSync},
}

func clientOf(userAgent string) client {
	for _, p := range clientPrefixes {
		if strings.HasPrefix(userAgent, p.prefix) {
			return p.client
		}
	}
	return otherClient
}

// Reason is why a call or a poll was refused, or a stream was ended for what its client sent.
type Reason int

// The reasons.
const (
	Unauthenticated Reason = iota
	PermissionDenied
	InvalidArgument
	ResourceExhausted
	Unavailable
	DeadlineExceeded
	Unimplemented
	Internal

	numReasons = 8
)

var reasonNames = [numReasons]string{
	Unauthenticated: "unauthenticated", PermissionDenied: "permission_denied", InvalidArgument: "invalid_argument", ResourceExhausted: "resource_exhausted",
	Unavailable: "unavailable", DeadlineExceeded: "deadline_exceeded", Unimplemented: "unimplemented", Internal: "internal",
}

// Other is in the place of a type for all that are not served.
const Other fleet.Type = fleet.NumTypes

const numTypes = fleet.NumTypes + 1

func typeNames() (names []string) {
	for _, t := range fleet.Types() {
		names = append(names, t.Slug())
	}
	return append(names, other)
}

func causeNames() (names []string) {
	for _, c := range fleet.Causes() {
		names = append(names, c.String())
	}
	return names
}

// messages are what is counted of the messages of one protocol.
type messages struct {
	requests, responses, bytes, acks, nacks [numTypes]prometheus.Counter
}

// Streams is what an xDS server counts of its streams. What is counted with each message is one addition.
type Streams struct {
	open     [numProtocols][numClients]prometheus.Gauge
	by       [numProtocols]messages
	refused  [numReasons]prometheus.Counter
	unserved prometheus.Counter
	withheld [fleet.NumCauses]prometheus.Gauge

	planners sources[Planned]

	labels          *fleetLabels
	ofFleetOpen     *prometheus.GaugeVec
	ofFleetRefusing *prometheus.GaugeVec
	ofFleetNacks    *prometheus.CounterVec

	mu     sync.Mutex // guards fleets
	fleets map[[2]string]*ofFleet
}

// ofFleet is what is counted of one fleet's streams, or of those of all that have no series of their own.
type ofFleet struct {
	open, refusing prometheus.Gauge
	nacks          prometheus.Counter
}

// Planned is what a planner has done, and what it remembers.
type Planned struct {
	Steps, Walks     int64
	Positions, Bytes int
}

// Watch has what a port's planner has done read by this, beside those of other ports.
func (m *Streams) Watch(read func() Planned) { m.planners.add(read) }

func newStreams(s section, labels *fleetLabels) *Streams {
	m := &Streams{labels: labels, fleets: make(map[[2]string]*ofFleet)}
	types := typeNames()
	typ, protocol := Label{"type", oneOf(types...)}, Label{"protocol", oneOf(protocolNames[:]...)}
	open := s.gauge("fairlead_xds_streams", "Streams of discovery that are attached to their fleet. What a client polls for is one for each type and set of names.",
		protocol, Label{"client", oneOf(clientNames[:]...) + ", as the node says; `grpc-c++` is also that of Python and Ruby"})
	requests := s.counter("fairlead_xds_requests_total", "Requests on streams that were let in: subscriptions, ACKs and NACKs.", typ, protocol)
	responses := s.counter("fairlead_xds_responses_total", "Responses that were sent, heartbeats among them.", typ, protocol)
	bytes := s.counter("fairlead_xds_response_bytes_total", "What those responses took, without compression and the overhead of HTTP.", typ, protocol)
	acks := s.counter("fairlead_xds_acks_total", "Responses that clients took, heartbeats apart.", typ, protocol)
	nacks := s.counter("fairlead_xds_nacks_total", "Responses that clients refused.", typ, protocol)
	for p := range m.by {
		for c := range m.open[p] {
			m.open[p][c] = open.WithLabelValues(protocolNames[p], clientNames[c])
		}
		for t, name := range types {
			by := &m.by[p]
			by.requests[t] = requests.WithLabelValues(name, protocolNames[p])
			by.responses[t] = responses.WithLabelValues(name, protocolNames[p])
			by.bytes[t] = bytes.WithLabelValues(name, protocolNames[p])
			by.acks[t] = acks.WithLabelValues(name, protocolNames[p])
			by.nacks[t] = nacks.WithLabelValues(name, protocolNames[p])
		}
	}
	refused := s.counter("fairlead_xds_refused_total", "Calls and polls that were refused, and streams that were ended for what their client sent or because of an error of ours. What clients end themselves is not counted.",
		Label{"reason", oneOf(reasonNames[:]...)})
	for i, name := range reasonNames {
		m.refused[i] = refused.WithLabelValues(name)
	}
	m.unserved = s.counter("fairlead_xds_unserved_types_total", "Types that are not served and that a stream asked for, each once for a stream.").WithLabelValues()
	withheld := s.gauge("fairlead_xds_streams_withheld", "Streams from which something is kept for this reason, for a second or longer.", Label{"reason", oneOf(causeNames()...)})
	for c, name := range causeNames() {
		m.withheld[c] = withheld.WithLabelValues(name)
	}
	m.tellPlanners(s)
	m.ofFleetOpen = s.gauge("fairlead_fleet_streams", "Streams of the fleet on this server.", byFleet()...)
	m.ofFleetRefusing = s.gauge("fairlead_fleet_streams_refusing", "Those of them whose client refuses something that it is to have. It goes on with the last version that it took, or without.", byFleet()...)
	m.ofFleetNacks = s.counter("fairlead_fleet_nacks_total", "Responses that clients of the fleet refused on this server.", byFleet()...)
	return m
}

func (m *Streams) tellPlanners(s section) {
	steps := s.value("fairlead_planner_steps_total", Counter, "Times that it was asked what a client should be sent next.")
	walks := s.value("fairlead_planner_walks_total", Counter, "Those of them in which it had to be worked out. All others were answered by what was worked out for another stream in the same position.")
	positions := s.value("fairlead_planner_positions", Gauge, "Distinct positions of streams of which a step is remembered.")
	bytes := s.value("fairlead_planner_memory_bytes", Gauge, "What all that is remembered takes, about.")
	s.reads(func(ch chan<- prometheus.Metric) {
		var all Planned
		for _, read := range m.planners.all() {
			p := read()
			all.Steps, all.Walks, all.Positions, all.Bytes = all.Steps+p.Steps, all.Walks+p.Walks, all.Positions+p.Positions, all.Bytes+p.Bytes
		}
		steps.is(ch, float64(all.Steps))
		walks.is(ch, float64(all.Walks))
		positions.is(ch, float64(all.Positions))
		bytes.is(ch, float64(all.Bytes))
	}, steps, walks, positions, bytes)
}

func (m *Streams) fleet(key fleet.Key) *ofFleet {
	tenant, name := m.labels.of(key)
	m.mu.Lock()
	defer m.mu.Unlock()
	of := m.fleets[[2]string{tenant, name}]
	if of == nil {
		of = &ofFleet{m.ofFleetOpen.WithLabelValues(tenant, name), m.ofFleetRefusing.WithLabelValues(tenant, name), m.ofFleetNacks.WithLabelValues(tenant, name)}
		m.fleets[[2]string{tenant, name}] = of
	}
	return of
}

// Refused counts a call or a poll.
func (m *Streams) Refused(r Reason) { m.refused[r].Inc() }

// Unserved counts a type that is not served and that a stream asks for.
func (m *Streams) Unserved() { m.unserved.Inc() }

// Polled counts the bytes of an answer to a poll.
func (m *Streams) Polled(t fleet.Type, bytes int) { m.by[REST].bytes[t].Add(float64(bytes)) }

// Stream is what one stream counts in. The zero Stream counts nothing. One goroutine uses it.
type Stream struct {
	open   prometheus.Gauge
	by     *messages
	fleet  *ofFleet
	causes *[fleet.NumCauses]prometheus.Gauge

	refusing bool // it is counted as one that refuses something
	kept     Kept // for which reasons it is counted
}

// Kept says for each reason whether something is kept from a client.
type Kept [fleet.NumCauses]bool

// Open counts a stream until its Close, once.
func (m *Streams) Open(p Protocol, userAgent string, key fleet.Key) Stream {
	s := Stream{open: m.open[p][clientOf(userAgent)], by: &m.by[p], fleet: m.fleet(key), causes: &m.withheld}
	s.open.Inc()
	s.fleet.open.Inc()
	return s
}

// Close counts the stream no more.
func (s *Stream) Close() {
	if s.by != nil {
		s.Stands(false, Kept{})
		s.open.Dec()
		s.fleet.open.Dec()
		*s = Stream{}
	}
}

// Stands says whether the client refuses something at present, and for which reasons something is kept from it.
func (s *Stream) Stands(refusing bool, kept Kept) {
	if s.by == nil {
		return
	}
	s.refusing = count(s.fleet.refusing, s.refusing, refusing)
	for c, g := range s.causes {
		s.kept[c] = count(g, s.kept[c], kept[c])
	}
}

// count moves a gauge of those that are something.
func count(g prometheus.Gauge, was, is bool) bool {
	switch {
	case is && !was:
		g.Inc()
	case was && !is:
		g.Dec()
	}
	return is
}

// Request counts a request.
func (s *Stream) Request(t fleet.Type) {
	if s.by != nil {
		s.by.requests[t].Inc()
	}
}

// Response counts a response that was sent, of so many bytes; 0 where Polled counts them.
func (s *Stream) Response(t fleet.Type, bytes int) {
	if s.by != nil {
		s.by.responses[t].Inc()
		s.by.bytes[t].Add(float64(bytes))
	}
}

// ACK counts a response that the client took.
func (s *Stream) ACK(t fleet.Type) {
	if s.by != nil {
		s.by.acks[t].Inc()
	}
}

// NACK counts a response that the client refused.
func (s *Stream) NACK(t fleet.Type) {
	if s.by != nil {
		s.by.nacks[t].Inc()
		s.fleet.nacks.Inc()
	}
}
