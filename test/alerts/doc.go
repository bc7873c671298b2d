// Package alerts holds the tests that make faults on real servers, see the alerts of deploy/prometheus fire, do what their pages in
// docs/runbooks say, and see them end.
package alerts
