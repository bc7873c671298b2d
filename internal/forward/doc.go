// Package forward sends a tenant's audit to a collector outside: to a signed webhook, or to syslog. It sends what it is given, once, and says whether the collector took it; who
// calls it remembers what was taken, and sends the rest again.
package forward
