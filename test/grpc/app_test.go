package grpcclients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/test/world"
)

// implementation is one of the gRPC clients.
type implementation struct {
	name    string
	command func() []string
	env     func() []string
	// excused are words of failures that are its own, whatever a server does.
	excused string
}

var (
	grpcGo = implementation{
		name:    "grpc-go",
		command: func() []string { return []string{world.Bin("goclient")} },
		// It picks by a new route before its balancer has the cluster of that route.
		excused: "unknown cluster selected for RPC",
	}
	grpcJS = implementation{
		name:    "grpc-js",
		command: func() []string { return []string{"node", filepath.Join("node", "client.cjs")} },
		env:     func() []string { return []string{"NODE_PATH=" + nodeModules} },
	}
	cCore = implementation{
		name:    "C-core",
		command: func() []string { return []string{"python3", filepath.Join("python", "client.py")} },
		env:     func() []string { return []string{"PYTHONPATH=" + pythonPath, "PYTHONDONTWRITEBYTECODE=1"} },
	}
)

// everyClient runs a test once with each implementation.
func everyClient(t *testing.T, test func(t *testing.T, impl implementation)) {
	t.Parallel()
	for _, impl := range []implementation{grpcGo, grpcJS, cCore} {
		t.Run(impl.name, func(t *testing.T) {
			t.Parallel()
			test(t, impl)
		})
	}
}

// app is a program with a gRPC client in it.
type app struct {
	t       testing.TB
	excused string
	end     func() // ends the program

	mu  sync.Mutex // guards what follows: one command at a time
	in  io.WriteCloser
	out chan answer
}

// answer is what a command, or a call, ended with.
type answer struct {
	Code, Reply, Details string
}

func (a answer) String() string { return a.Code + " " + a.Reply + a.Details }

// start starts a program that connects by the bootstrap.
func (impl implementation) start(t testing.TB, bootstrap []byte, env ...string) *app {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "bootstrap.json")
	world.Must(t, os.WriteFile(file, bootstrap, 0o600))
	log, err := os.Create(filepath.Join(dir, impl.name+".log"))
	world.Must(t, err)
	args := impl.command()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = log
	cmd.Env = append(append(os.Environ(), "GRPC_XDS_BOOTSTRAP="+file), env...)
	if impl.env != nil {
		cmd.Env = append(cmd.Env, impl.env()...)
	}
	in, err := cmd.StdinPipe()
	world.Must(t, err)
	out, err := cmd.StdoutPipe()
	world.Must(t, err)
	world.Must(t, cmd.Start())
	a := &app{t: t, excused: impl.excused, in: in, out: make(chan answer)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(a.out)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var got answer
			if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
				got = answer{Code: "GARBLED", Details: lines.Text()}
			}
			a.out <- got
		}
	}()
	a.end = sync.OnceFunc(func() {
		_ = in.Close() // it ends then
		kill := time.AfterFunc(world.Soon, func() { _ = cmd.Process.Kill() })
		for range a.out { // an answer that nobody waited for
		}
		<-read
		_ = cmd.Wait()
		kill.Stop()
		_ = log.Close()
	})
	t.Cleanup(func() {
		a.end()
		world.Dump(t, log.Name())
	})
	return a
}

// do sends one command and waits for its answer.
func (a *app) do(format string, args ...any) answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := fmt.Fprintf(a.in, format+"\n", args...); err != nil {
		return answer{Code: "GONE", Details: err.Error()}
	}
	select {
	case got, ok := <-a.out:
		if !ok {
			return answer{Code: "GONE", Details: "the program ended"}
		}
		return got
	case <-time.After(2 * world.Soon):
		return answer{Code: "GONE", Details: "no answer"}
	}
}

// open opens a channel to a target.
func (a *app) open(channel, target string) {
	a.t.Helper()
	if got := a.do("open %s %s", channel, target); got.Code != "OK" {
		a.t.Fatalf("open %s: %s", target, got)
	}
}

// call makes one call, which may take half a second.
func (a *app) call(channel string) answer { return a.do("call %s 500", channel) }

// awaitReply calls until the backend of that name answers.
func (a *app) awaitReply(channel, backend string) time.Duration {
	a.t.Helper()
	return a.awaitCall(channel, "a reply from "+backend, func(got answer) bool { return got.Code == "OK" && got.Reply == backend })
}

// awaitFailure calls until a call fails with the code.
func (a *app) awaitFailure(channel, code string) answer {
	a.t.Helper()
	var last answer
	a.awaitCall(channel, "a call that fails with "+code, func(got answer) bool { last = got; return got.Code == code })
	return last
}

func (a *app) awaitCall(channel, what string, good func(answer) bool) time.Duration {
	a.t.Helper()
	start := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		got := a.call(channel)
		if good(got) {
			return time.Since(start)
		}
		if time.Since(start) > world.Soon {
			a.t.Fatalf("no %s within %s; the last call: %s", what, world.Soon, got)
		}
		if got.Code == "GONE" {
			a.t.Fatalf("the client is gone: %s", got)
		}
		<-tick.C
	}
}

// traffic calls without a pause until stop, which fails the test if one call failed and
// returns how many replies there were of each backend.
func (a *app) traffic(channel string) (stop func() map[string]int) {
	replies := map[string]int{}
	var failed []answer
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			default:
			}
			got := a.call(channel)
			switch {
			case got.Code == "OK":
				replies[got.Reply]++
			case a.excused != "" && strings.Contains(got.Details, a.excused):
			default:
				failed = append(failed, got)
			}
		}
	}()
	return func() map[string]int {
		a.t.Helper()
		close(end)
		<-ended
		if len(failed) > 0 {
			a.t.Errorf("%d calls failed, the first: %s", len(failed), failed[0])
		}
		return replies
	}
}
