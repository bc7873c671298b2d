package doctor

import (
	"context"
	"net/url"
	"strings"
	"time"

	"fairlead/internal/auth"
)

// State is how a check ended.
type State string

// The states. A check that could not be made is not green.
const (
	OK         State = "ok"
	Warning    State = "warning" // nothing fails yet
	Failed     State = "failed"
	NotChecked State = "not_checked"
)

// Result is what a check saw.
type Result struct {
	Check string `json:"check"`
	State State  `json:"state"`
	Saw   string `json:"saw"`          // of a check that was not made: why
	Do    string `json:"do,omitempty"` // about what is wrong
}

// Check is one thing that is looked at.
type Check struct {
	ID    string // stable: scripts go by it. Its first part is the group
	Looks string // at what
	after []string
	run   func(ctx context.Context, x *examination) Result
}

// Group is what has to be given for a check: "node", "database" or "api".
func (c Check) Group() string {
	group, _, _ := strings.Cut(c.ID, ".")
	return group
}

// Checks are all, in the order in which they are made: what a check builds on comes before it.
func Checks() []Check {
	var all []Check
	for _, some := range [][]Check{nodeChecks(), databaseChecks(), apiChecks()} {
		all = append(all, some...)
	}
	return all
}

// Config is where to look. What is not given is not looked at.
type Config struct {
	Bootstrap string // the file that a proxy or a gRPC client starts with
	PID       int    // the proxy's process; 0: those of this machine that are called envoy

	Database, ListenDatabase, ReadDatabase string // URLs, as the servers have them: secrets
	AllowPlaintextDatabase                 bool
	SealPublic, SealPrivate, VersionKey    string // files of keys

	API *API // nil: none

	Env func(string) string // of the client
	Now func() time.Time
}

// API is where it is, and whom to be there.
type API struct {
	URL           *url.URL
	Token         auth.Secret
	Tenant, Fleet string // "": those of the token, or none
}

// Report is what all checks saw.
type Report struct {
	Faults     int      `json:"faults"`
	Warnings   int      `json:"warnings"`
	NotChecked int      `json:"not_checked"`
	Checks     []Result `json:"checks"`
}

// patience bounds a check.
const patience = 8 * time.Second

// examination is what checks leave to those after them. One goroutine has it.
type examination struct {
	Config
	results map[string]Result
	secrets []string // that no text may hold

	node     nodeSeen
	database databaseSeen
	api      apiSeen
}

// hide notes a secret, so that whatever quotes it is told without it.
func (x *examination) hide(secrets ...string) {
	for _, s := range secrets {
		if len(s) >= shortestSecret {
			x.secrets = append(x.secrets, s)
		}
	}
}

// shortestSecret: a shorter one stands in many words by chance.
const shortestSecret = 4

func (x *examination) clean(r Result) Result {
	for _, s := range x.secrets {
		r.Saw, r.Do = strings.ReplaceAll(r.Saw, s, "[redacted]"), strings.ReplaceAll(r.Do, s, "[redacted]")
	}
	return r
}

// Run makes all checks for which something is given.
func Run(ctx context.Context, c Config) Report {
	x := &examination{Config: c, results: map[string]Result{}}
	defer x.close()
	return x.run(ctx)
}

func (x *examination) run(ctx context.Context) (report Report) {
	for _, check := range Checks() {
		r := x.clean(x.make(ctx, check))
		r.Check = check.ID
		x.results[check.ID] = r
		report.Checks = append(report.Checks, r)
		switch r.State {
		case Failed:
			report.Faults++
		case Warning:
			report.Warnings++
		case NotChecked:
			report.NotChecked++
		case OK:
		}
	}
	return report
}

// Given says what a group of checks needs, "" where it is there.
func (c Config) Given(group string) string {
	switch {
	case group == "node" && c.Bootstrap == "":
		return "no --bootstrap is given"
	case group == "database" && c.Database == "":
		return "no --database is given"
	case group == "api" && c.API == nil:
		return "no server and no API token are given"
	}
	return ""
}

func (x *examination) make(ctx context.Context, c Check) Result {
	if missing := x.Given(c.Group()); missing != "" {
		return notChecked(missing)
	}
	for _, before := range c.after {
		if s := x.results[before].State; s == Failed || s == NotChecked {
			return notChecked("it needs " + before)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r := c.run(ctx, x)
	if ctx.Err() != nil && r.State == OK { // what did not come to its end is not known
		return notChecked("there was no time for it")
	}
	return r
}

func (x *examination) close() {
	if x.database.probe != nil {
		x.database.probe.Close()
	}
	x.node.hangUp()
}

func ok(saw string) Result         { return Result{State: OK, Saw: saw} }
func warn(saw, do string) Result   { return Result{State: Warning, Saw: saw, Do: do} }
func failed(saw, do string) Result { return Result{State: Failed, Saw: saw, Do: do} }
func notChecked(why string) Result { return Result{State: NotChecked, Saw: why} }
