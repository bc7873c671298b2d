package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

var promParser = parser.NewParser(parser.Options{})

// readRules reads and checks a file of rules: a field that is unknown, an expression that does not parse or a template that does not expand is an error.
func readRules(file string) (*rulefmt.RuleGroups, error) {
	groups, errs := rulefmt.ParseFile(file, false, model.UTF8Validation, promParser, slog.New(slog.DiscardHandler))
	return groups, errors.Join(errs...)
}

// evaluator evaluates rules over samples as a Prometheus does.
type evaluator struct {
	engine *promql.Engine
	data   *samples
	rules  []*rule
}

// rule is one with the state that it leaves behind for its next evaluation.
type rule struct {
	rulefmt.Rule
	recorded map[uint64]labels.Labels // what the last evaluation of a recording rule has written
	active   map[uint64]*active       // alerts by hash of their labels
}

// active is an alert that is pending or firing.
type active struct {
	labels labels.Labels
	since  time.Time
	kept   time.Time // when its expression was last true
	firing bool
}

func newEvaluator(groups []*rulefmt.RuleGroups) *evaluator {
	e := &evaluator{
		engine: promql.NewEngine(promql.EngineOpts{MaxSamples: 10_000_000, Timeout: time.Minute, EnableAtModifier: true, EnableNegativeOffset: true, Parser: promParser}),
		data:   newSamples(),
	}
	for _, file := range groups {
		for _, g := range file.Groups {
			for _, r := range g.Rules {
				e.rules = append(e.rules, &rule{Rule: r, recorded: map[uint64]labels.Labels{}, active: map[uint64]*active{}})
			}
		}
	}
	return e
}

// query is an expression at a time.
func (e *evaluator) query(ctx context.Context, expr string, at time.Time) (promql.Vector, error) {
	q, err := e.engine.NewInstantQuery(ctx, e.data, nil, expr, at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	defer q.Close()
	switch r := q.Exec(ctx); v := r.Value.(type) {
	case promql.Vector:
		return v, r.Err
	case promql.Scalar:
		return promql.Vector{{T: v.T, F: v.V, Metric: labels.EmptyLabels()}}, r.Err
	default:
		return nil, fmt.Errorf("%s: %w", expr, errors.Join(r.Err, errors.New("it is no vector")))
	}
}

// step evaluates every rule once.
func (e *evaluator) step(ctx context.Context, at time.Time) error {
	for _, r := range e.rules {
		v, err := e.query(ctx, r.Expr, at)
		if err != nil {
			return err
		}
		if r.Record != "" {
			e.record(r, v, at)
		} else {
			e.alert(r, v, at)
		}
	}
	return nil
}

// named are labels with those of the rule, and a name.
func (r *rule) named(l labels.Labels, name, as string) labels.Labels {
	b := labels.NewBuilder(l)
	b.Del(model.MetricNameLabel)
	for k, v := range r.Labels {
		b.Set(k, v)
	}
	b.Set(name, as)
	return b.Labels()
}

func (e *evaluator) record(r *rule, v promql.Vector, at time.Time) {
	now := map[uint64]labels.Labels{}
	for _, x := range v {
		l := r.named(x.Metric, model.MetricNameLabel, r.Record)
		now[l.Hash()] = l
		e.data.add(l, at.UnixMilli(), x.F)
	}
	for h, l := range r.recorded {
		if _, still := now[h]; !still {
			e.data.add(l, at.UnixMilli(), math.Float64frombits(value.StaleNaN))
		}
	}
	r.recorded = now
}

func (e *evaluator) alert(r *rule, v promql.Vector, at time.Time) {
	for _, x := range v {
		l := r.named(x.Metric, model.AlertNameLabel, r.Alert)
		if r.active[l.Hash()] == nil {
			r.active[l.Hash()] = &active{labels: l, since: at}
		}
		r.active[l.Hash()].kept = at
	}
	for h, a := range r.active {
		over := a.kept.Before(at) && !(a.firing && at.Before(a.kept.Add(time.Duration(r.KeepFiringFor))))
		fires := !over && (a.firing || at.Sub(a.since) >= time.Duration(r.For))
		if over || fires != a.firing { // the state that it was in is over
			e.tell(a, at, math.Float64frombits(value.StaleNaN))
		}
		if a.firing = fires; over {
			delete(r.active, h)
			continue
		}
		e.tell(a, at, 1)
	}
}

// tell adds a sample to the series by which Prometheus tells of its alerts.
func (e *evaluator) tell(a *active, at time.Time, v float64) {
	b := labels.NewBuilder(a.labels)
	b.Set(model.MetricNameLabel, "ALERTS")
	b.Set("alertstate", map[bool]string{true: "firing", false: "pending"}[a.firing])
	e.data.add(b.Labels(), at.UnixMilli(), v)
}
