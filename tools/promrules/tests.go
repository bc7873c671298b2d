package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"go.yaml.in/yaml/v3"
)

// testFile is what promtool takes, as far as it is known here. A field that is not is an error.
type testFile struct {
	RuleFiles []string       `yaml:"rule_files"`
	Interval  model.Duration `yaml:"evaluation_interval"`
	Tests     []ruleTest     `yaml:"tests"`
}

type ruleTest struct {
	Name     string         `yaml:"name"`
	Interval model.Duration `yaml:"interval"`
	Start    string         `yaml:"start_timestamp"` // Unix seconds
	Series   []inputSeries  `yaml:"input_series"`
	Expect   []expectation  `yaml:"promql_expr_test"`
}

type inputSeries struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

type expectation struct {
	Expr    string         `yaml:"expr"`
	At      model.Duration `yaml:"eval_time"`
	Samples []wantedSample `yaml:"exp_samples"`
}

type wantedSample struct {
	Labels string  `yaml:"labels"`
	Value  float64 `yaml:"value"`
}

func readTests(file string) (*testFile, []*rulefmt.RuleGroups, error) {
	b, err := os.ReadFile(file) //nolint:gosec // whoever calls it may
	if err != nil {
		return nil, nil, err
	}
	f := testFile{Interval: model.Duration(time.Minute)}
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	var groups []*rulefmt.RuleGroups
	for _, name := range f.RuleFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(file), name)
		}
		g, err := readRules(name)
		if err != nil {
			return nil, nil, err
		}
		groups = append(groups, g)
	}
	return &f, groups, nil
}

// runTests returns what does not hold.
func runTests(ctx context.Context, file string) (failures []string, err error) {
	f, groups, err := readTests(file)
	if err != nil {
		return nil, err
	}
	for _, t := range f.Tests {
		found, err := t.run(ctx, newEvaluator(groups), time.Duration(f.Interval))
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, t.Name, err)
		}
		for _, x := range found {
			failures = append(failures, t.Name+": "+x)
		}
	}
	return failures, nil
}

func (t ruleTest) run(ctx context.Context, e *evaluator, every time.Duration) (failures []string, err error) {
	start := time.Unix(0, 0)
	if t.Start != "" {
		s, err := strconv.ParseFloat(t.Start, 64)
		if err != nil {
			return nil, fmt.Errorf("start_timestamp: %w", err)
		}
		start = time.UnixMilli(int64(s * 1000))
	}
	if err := t.load(e.data, start); err != nil {
		return nil, err
	}
	expect := slices.SortedStableFunc(slices.Values(t.Expect), func(a, b expectation) int { return int(a.At - b.At) })
	next := start
	for _, x := range expect {
		at := start.Add(time.Duration(x.At))
		for ; !next.After(at); next = next.Add(every) {
			if err := e.step(ctx, next); err != nil {
				return nil, err
			}
		}
		got, err := e.query(ctx, x.Expr, at)
		if err != nil {
			return nil, err
		}
		if has, want, err := x.compare(got); err != nil || !slices.Equal(has, want) {
			failures = append(failures, fmt.Sprintf("%s at %s is %q, want %q %v", x.Expr, x.At, has, want, err))
		}
	}
	return failures, nil
}

// load adds the input.
func (t ruleTest) load(data *samples, start time.Time) error {
	for _, in := range t.Series {
		l, values, err := promParser.ParseSeriesDesc(in.Series + " " + in.Values)
		if err != nil {
			return fmt.Errorf("%s: %w", in.Series, err)
		}
		for i, v := range values {
			if !v.Omitted {
				data.add(l, start.Add(time.Duration(i)*time.Duration(t.Interval)).UnixMilli(), v.Value)
			}
		}
	}
	return nil
}

func (x expectation) compare(v promql.Vector) (has, want []string, err error) {
	text := func(l labels.Labels, value float64) string { return fmt.Sprintf("%s %g", l, value) }
	for _, s := range v {
		has = append(has, text(s.Metric, s.F))
	}
	for _, s := range x.Samples {
		l, err := promParser.ParseMetric(s.Labels)
		if err != nil {
			return nil, nil, err
		}
		want = append(want, text(l, s.Value))
	}
	slices.Sort(has)
	slices.Sort(want)
	return has, want, nil
}
