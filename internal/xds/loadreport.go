package xds

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
	"fairlead/internal/load"
)

// loadReport is a LoadStatsRequest, decoded as far as it is kept: an Envoy's has its node each time, and every cluster that it has, whether or not anything
// happened there.
type loadReport struct {
	node   []byte      // the encoded Node, nil if there is none
	pinned *pinnedNode // the node that it must be, which is looked at where it lies; nil: it is not known yet, and copied
	idle   bool        // the clusters to which nothing was sent are wanted too: their names cost more than all else that is skipped
	// endpoints: counts for each endpoint are wanted.
	endpoints bool
	clusters  int // of which it says something, be it that nothing happened
	load.Report

	localities []load.Locality // of all clusters
	places     []place         // that were decoded lately
}

// place is a Locality, encoded and decoded. A report names the same few for each cluster.
type place struct {
	encoded []byte
	place   load.Place
	kept    bool // its texts can be
}

// maxPlaces is how many places are remembered of one report.
const maxPlaces = 8

// scratches are room for what reports say, from when they have come until they are added up: a stream that waits for one has none.
var scratches = sync.Pool{New: func() any { return &scratch{} }}

type scratch struct {
	clusters   []load.Cluster
	localities []load.Locality
}

// enter gives the report room from those that were used before.
func (r *loadReport) enter() {
	if free, ok := scratches.Get().(*scratch); ok {
		r.Clusters, r.localities = free.clusters, free.localities
	}
}

// leave gives the report's room back. What it said is over.
func (r *loadReport) leave() {
	clear(r.Clusters)
	clear(r.localities)
	scratches.Put(&scratch{r.Clusters[:0], r.localities[:0]})
	r.Clusters, r.localities = nil, nil
}

// Field numbers of LoadStatsRequest.
const reportNode, reportClusters = 1, 2

// tag is the number of a field and its type on the wire: a field of another type is one that is not known.
type tag uint64

const varint, fixed64, bytesOf tag = tag(protowire.VarintType), tag(protowire.Fixed64Type), tag(protowire.BytesType)

// Tags of what a LoadStatsRequest holds.
const (
	statsName, statsLocalities, statsDropped, statsInterval, statsDrops = 1<<3 | bytesOf, 2<<3 | bytesOf, 3<<3 | varint, 4<<3 | bytesOf, 5<<3 | bytesOf

	dropCategory, dropCount = 1<<3 | bytesOf, 2<<3 | varint

	localityOf, localityMetrics, localityEndpoints                            = 1<<3 | bytesOf, 5<<3 | bytesOf, 7<<3 | bytesOf
	localitySucceeded, localityInProgress, localityFailed, localityIssued tag = 2<<3 | varint, 3<<3 | varint, 4<<3 | varint, 8<<3 | varint

	localityCPU, localityMemory, localityApplication = 12<<3 | bytesOf, 13<<3 | bytesOf, 14<<3 | bytesOf

	metricName, metricCount, metricTotal = 1<<3 | bytesOf, 2<<3 | varint, 3<<3 | fixed64
	// Of a metric that has no name.
	unnamedCount, unnamedTotal = 1<<3 | varint, 2<<3 | fixed64

	durationSeconds, durationNanos = 1<<3 | varint, 2<<3 | varint
)

// utilizations are the names of metrics that have fields of their own.
var utilizations = map[tag]string{localityCPU: "cpu_utilization", localityMemory: "mem_utilization", localityApplication: "application_utilization"}

// receive decodes what came.
func (r *loadReport) receive(data mem.BufferSlice) error {
	if n := data.Len(); n > largeMessage {
		return fmt.Errorf("the load report has %d bytes, %d is the limit: %w", n, largeMessage, fleet.ErrLimit)
	}
	buf := data.MaterializeToBuffer(messages)
	defer buf.Free()
	defer func() { r.places = nil }() // they lie in buf
	r.enter()
	if err := r.decode(buf.ReadOnlyData()); err != nil {
		return fmt.Errorf("decode the load report: %w: %w", err, fleet.ErrInvalid)
	}
	if r.node == nil {
		return nil
	}
	node := r.node
	if r.node = nil; r.pinned != nil {
		return r.pinned.check(node)
	}
	r.node = bytes.Clone(node)
	return nil
}

// decode copies what it keeps, but the node. What is over a bound, or cannot be kept, is counted, and the rest counts.
func (r *loadReport) decode(b []byte) error {
	return eachBytes(b, func(num protowire.Number, v []byte) error {
		switch num {
		case reportNode:
			r.node = v
		case reportClusters:
			r.clusters++
			return r.cluster(v)
		}
		return nil
	})
}

func (r *loadReport) cluster(b []byte) error {
	c, leftOut := load.Cluster{}, r.LeftOut
	var name []byte
	var dropped, told uint64 // of a reason, and all
	err := eachField(b, func(f field) error {
		switch f.tag {
		case statsName:
			name = f.bytes
		case statsLocalities:
			return r.locality(&c, f.bytes)
		case statsDropped:
			dropped = f.n
		case statsInterval:
			c.Interval = interval(f.bytes)
		case statsDrops:
			n, err := r.drop(&c, f.bytes)
			told = together(told, n)
			return err
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case dropped > told: // some clients give no reasons
		c.Drops = append(c.Drops, load.Drop{Count: dropped - told})
	}
	if len(c.Localities)+len(c.Drops)+len(c.Metrics) == 0 && r.LeftOut == leftOut { // nothing happened
		if r.idle && len(r.Idle) < load.MaxIdle {
			if text, ok := keptText(name, load.MaxName); ok && text != "" {
				r.Idle = append(r.Idle, text)
			}
		}
		return nil
	}
	var ok bool
	if c.Name, ok = keptText(name, load.MaxName); !ok || c.Name == "" || len(r.Clusters) >= load.MaxClusters {
		r.localities = r.localities[:len(r.localities)-len(c.Localities)] // there may be a million of them
		r.LeftOut++
		r.Cut = true
		return nil
	}
	r.Clusters = append(r.Clusters, c)
	return nil
}

// drop returns how many there were.
func (r *loadReport) drop(c *load.Cluster, b []byte) (n uint64, err error) {
	var category []byte
	err = eachField(b, func(f field) error {
		switch f.tag {
		case dropCategory:
			category = f.bytes
		case dropCount:
			n = f.n
		}
		return nil
	})
	if err != nil || n == 0 {
		return 0, err
	}
	text, ok := keptText(category, load.MaxText)
	if !ok || len(c.Drops) >= load.MaxCategories {
		r.LeftOut++
		return n, nil
	}
	c.Drops = append(c.Drops, load.Drop{Category: text, Count: n})
	return n, nil
}

func (r *loadReport) locality(c *load.Cluster, b []byte) error {
	var l load.Locality
	ok := true
	err := eachField(b, func(f field) (err error) {
		switch f.tag {
		case localityOf:
			ok, err = r.place(&l, f.bytes)
		case localityIssued:
			l.Issued = f.n
		case localitySucceeded:
			l.Succeeded = f.n
		case localityFailed:
			l.Failed = f.n
		case localityInProgress:
			l.InProgress = f.n
		case localityMetrics:
			err = r.named(c, f.bytes)
		case localityEndpoints:
			err = r.endpoint(c, &l, f.bytes)
		case localityCPU, localityMemory, localityApplication:
			err = r.utilization(c, f.bytes, utilizations[f.tag])
		}
		return err
	})
	switch {
	case err != nil || l.Issued|l.Succeeded|l.Failed|l.InProgress == 0:
		return err
	case !ok || len(c.Localities) >= load.MaxLocalities:
		r.LeftOut++
		return nil
	}
	r.localities = append(r.localities, l)
	c.Localities = r.localities[len(r.localities)-1-len(c.Localities):]
	return nil
}

// place sets where a locality is; ok: its texts can be kept.
func (r *loadReport) place(l *load.Locality, b []byte) (ok bool, err error) {
	i := slices.IndexFunc(r.places, func(p place) bool { return bytes.Equal(p.encoded, b) })
	if i < 0 {
		p, err := decodePlace(b)
		if err != nil {
			return false, err
		}
		if len(r.places) == maxPlaces {
			r.places = r.places[:0]
		}
		i, r.places = len(r.places), append(r.places, p)
	}
	p := &r.places[i]
	l.Place = p.place
	return p.kept, nil
}

func decodePlace(b []byte) (place, error) {
	p := place{encoded: b, kept: true}
	var region, zone, subZone string
	err := eachBytes(b, func(num protowire.Number, v []byte) error {
		text, ok := keptText(v, load.MaxText)
		switch num {
		case 1:
			region = text
		case 2:
			zone = text
		case 3:
			subZone = text
		default:
			return nil
		}
		p.kept = p.kept && ok
		return nil
	})
	p.place = load.At(region, zone, subZone)
	return p, err
}

// named decodes an EndpointLoadMetricStats.
func (r *loadReport) named(c *load.Cluster, b []byte) error {
	var m load.Metric
	var name []byte
	err := eachField(b, func(f field) error {
		switch f.tag {
		case metricName:
			name = f.bytes
		case metricCount:
			m.Count = f.n
		case metricTotal:
			m.Total = math.Float64frombits(f.n)
		}
		return nil
	})
	var ok bool
	if m.Name, ok = keptText(name, load.MaxText); !ok {
		m.Name = "" // which none may have
	}
	r.metric(c, m)
	return err
}

// utilization decodes an UnnamedEndpointLoadMetricStats.
func (r *loadReport) utilization(c *load.Cluster, b []byte, name string) error {
	m := load.Metric{Name: name}
	err := eachField(b, func(f field) error {
		switch f.tag {
		case unnamedCount:
			m.Count = f.n
		case unnamedTotal:
			m.Total = math.Float64frombits(f.n)
		}
		return nil
	})
	r.metric(c, m)
	return err
}

// metric adds one: a cluster's are of all its localities.
func (r *loadReport) metric(c *load.Cluster, m load.Metric) {
	if m.Count == 0 && m.Total == 0 {
		return
	}
	i := slices.IndexFunc(c.Metrics, func(x load.Metric) bool { return x.Name == m.Name })
	switch {
	case m.Name == "", math.IsNaN(m.Total), i < 0 && len(c.Metrics) >= load.MaxMetrics:
		r.LeftOut++
	case i < 0:
		c.Metrics = append(c.Metrics, m)
	default:
		c.Metrics[i].Count, c.Metrics[i].Total = together(c.Metrics[i].Count, m.Count), c.Metrics[i].Total+m.Total
	}
}

// together adds what a report says in parts. It ends where it would begin anew.
func together(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// interval decodes a Duration; what is not positive, or too long for one, is 0.
func interval(b []byte) time.Duration {
	var seconds, nanos int64
	err := eachField(b, func(f field) error {
		switch f.tag {
		case durationSeconds:
			seconds = int64(f.n) //nolint:gosec // what it is on the wire
		case durationNanos:
			nanos = int64(f.n) //nolint:gosec // likewise
		}
		return nil
	})
	if err != nil || seconds < 0 || nanos < 0 || seconds > int64(time.Hour/time.Second) || nanos >= int64(time.Second) {
		return 0
	}
	return time.Duration(seconds)*time.Second + time.Duration(nanos)
}

// keptText is a text as the database keeps it, of so many bytes at most; ok is false of another one.
func keptText(b []byte, most int) (s string, ok bool) {
	if len(b) > most || !utf8.Valid(b) {
		return "", false
	}
	s = string(b)
	return s, !strings.ContainsRune(s, 0)
}

// field is one of an encoded message.
type field struct {
	tag   tag
	bytes []byte // of a message or a text
	n     uint64 // of a number
}

// eachField calls f for every field but groups and 32-bit numbers.
func eachField(b []byte, f func(field) error) error {
	for len(b) > 0 {
		x, n := field{}, 1
		if b[0] >= 1<<3 && b[0] < 1<<7 { // nearly all
			x.tag = tag(b[0])
		} else {
			var num protowire.Number
			var typ protowire.Type
			if num, typ, n = protowire.ConsumeTag(b); n < 0 {
				return protowire.ParseError(n)
			}
			x.tag = tag(protowire.EncodeTag(num, typ))
		}
		switch b = b[n:]; x.tag & 7 {
		case varint:
			x.n, n = protowire.ConsumeVarint(b)
		case fixed64:
			x.n, n = protowire.ConsumeFixed64(b)
		case bytesOf:
			x.bytes, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(protowire.Number(x.tag>>3), protowire.Type(x.tag&7), b) //nolint:gosec // a number of a field
			x.tag = 0
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}
