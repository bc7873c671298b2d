package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"syscall"
	"time"

	"fairlead/bench/internal/load"
)

// process is a server under test. It ends with this process, if it is not stopped before.
type process struct {
	load.Server
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

// startProcess runs a program on the given CPUs, as taskset takes them; "" is all.
func startProcess(cpus string, args []string, at load.Server, stdin io.Reader) (*process, error) {
	if cpus != "" {
		args = append([]string{"taskset", "-c", cpus}, args...)
	}
	p := &process{cmd: exec.Command(args[0], args[1:]...), Server: at}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, &p.stdout, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.PID = p.cmd.Process.Pid
	return p, nil
}

// stop ends it, by force if it takes too long.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	force := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() })
	_ = p.cmd.Wait() // how it ended is no result
	force.Stop()
}

const upLimit = 30 * time.Second

// await asks a URL until it answers 200.
func await(ctx context.Context, method, url string) error {
	ctx, cancel := context.WithTimeout(ctx, upLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask(ctx, method, url)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// ask returns nil for a 200.
func ask(ctx context.Context, method, url string) error {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, resp.Status)
	}
	return nil
}

// freeAddresses returns addresses of this machine that nobody listens on.
func freeAddresses(n int) (out []string, err error) {
	for range n {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer lis.Close() //nolint:revive // all at once, so that no two are the same
		out = append(out, lis.Addr().String())
	}
	return out, nil
}
