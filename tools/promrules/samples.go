package main

import (
	"context"
	"slices"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// sample is a value at a time in milliseconds.
type sample struct {
	at    int64
	value float64
}

// What follows is chunks.Sample's.

func (s sample) T() int64                      { return s.at }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

// samples is a storage in memory. One goroutine uses it.
type samples struct {
	series map[uint64]*oneSeries // by hash of the labels
}

type oneSeries struct {
	labels  labels.Labels
	samples []chunks.Sample
}

func newSamples() *samples { return &samples{series: make(map[uint64]*oneSeries)} }

// add appends a sample, which comes after all others of its series.
func (s *samples) add(l labels.Labels, at int64, value float64) {
	x := s.series[l.Hash()]
	if x == nil {
		x = &oneSeries{labels: l}
		s.series[l.Hash()] = x
	}
	x.samples = append(x.samples, sample{at, value})
}

// Querier is storage.Queryable's.
func (s *samples) Querier(from, to int64) (storage.Querier, error) { return &view{s, from, to}, nil }

// view is what a query sees of the samples.
type view struct {
	of       *samples
	from, to int64
}

// Select is storage.Querier's.
func (v *view) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	set := &set{at: -1}
	for _, x := range v.of.series {
		if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(x.labels.Get(m.Name)) }) {
			set.all = append(set.all, storage.NewListSeries(x.labels, v.within(x.samples)))
		}
	}
	slices.SortFunc(set.all, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	return set
}

func (v *view) within(all []chunks.Sample) []chunks.Sample {
	begin := slices.IndexFunc(all, func(s chunks.Sample) bool { return s.T() >= v.from })
	if begin < 0 {
		return nil
	}
	all = all[begin:]
	if end := slices.IndexFunc(all, func(s chunks.Sample) bool { return s.T() > v.to }); end >= 0 {
		return all[:end]
	}
	return all
}

// LabelValues is storage.Querier's; nobody asks.
func (v *view) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// LabelNames is storage.Querier's; nobody asks.
func (v *view) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// Close is storage.Querier's.
func (v *view) Close() error { return nil }

// set goes through series.
type set struct {
	all []storage.Series
	at  int
}

// Next is storage.SeriesSet's.
func (s *set) Next() bool { s.at++; return s.at < len(s.all) }

// At is storage.SeriesSet's.
func (s *set) At() storage.Series { return s.all[s.at] }

// Err is storage.SeriesSet's.
func (s *set) Err() error { return nil }

// Warnings is storage.SeriesSet's.
func (s *set) Warnings() annotations.Annotations { return nil }
