// Package metrics owns what a server counts and measures for Prometheus: the one registry of a process, and of each metric its name,
// its meaning, its labels and its buckets. Who measures gets counters from it that are found once, and knows nothing of Prometheus.
package metrics
