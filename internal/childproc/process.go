package childproc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// ErrKilled says that a child ignored its stop signal and had to be killed.
var ErrKilled = errors.New("killed")

// outputDelay is how long Done waits for descendants of the child that still hold its
// output open after it has ended.
const outputDelay = 2 * time.Second

// Spec says what to start. Path is the one field that must be set.
type Spec struct {
	Path   string
	Args   []string // without the program's name
	Env    []string // nil: our own environment
	Dir    string   // "": our own working directory
	Stdout io.Writer
	Stderr io.Writer

	// Credential is the user to run as; nil is our own. Only root may set it.
	Credential *Credential

	// StopSignal asks the child to end; 0 is SIGTERM.
	StopSignal syscall.Signal
	// StopTimeout is how long Stop waits before it kills; 0 is 10 s.
	StopTimeout time.Duration
	// DeathSignal is what the child gets when we die, Linux only; 0 is SIGKILL.
	DeathSignal syscall.Signal
	// PIDFile, if set, is written while the child runs. A child of an earlier life of
	// ours that it names, and that still runs the same program, is killed first.
	PIDFile string
}

// Credential is a user and its primary group. Supplementary groups are dropped.
type Credential struct {
	UID, GID uint32
}

// Process is a running child. All methods may be called at any time, from any goroutine.
type Process struct {
	spec Spec
	cmd  *exec.Cmd
	wg   sync.WaitGroup
	done chan struct{}
	err  error // set before done is closed
}

// Start starts the child in a process group of its own, so that Ctrl-C in a terminal
// reaches us alone and we decide about the order of the end.
//
// The kernel ties the death signal to the thread that started the child, not to the
// process. Therefore the goroutine that starts it keeps its thread until the child ends.
func Start(spec Spec) (*Process, error) {
	spec = withDefaults(spec)
	if err := endLeftover(spec); err != nil {
		return nil, err
	}
	p := &Process{spec: spec, cmd: command(spec), done: make(chan struct{})}
	started := make(chan error, 1)
	p.wg.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
		}
		close(p.done)
	})
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	if err := writePIDFile(spec, p.PID()); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

func withDefaults(s Spec) Spec {
	if s.StopSignal == 0 {
		s.StopSignal = syscall.SIGTERM
	}
	if s.StopTimeout == 0 {
		s.StopTimeout = 10 * time.Second
	}
	if s.DeathSignal == 0 {
		s.DeathSignal = syscall.SIGKILL
	}
	return s
}

func command(s Spec) *exec.Cmd {
	cmd := exec.Command(s.Path, s.Args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.Env, s.Dir, s.Stdout, s.Stderr
	cmd.WaitDelay = outputDelay
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if s.Credential != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: s.Credential.UID, Gid: s.Credential.GID}
	}
	dieWithUs(cmd.SysProcAttr, s.DeathSignal)
	return cmd
}

// PID is the child's process id. It means nothing after Done.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the child has ended and its output is read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the child ended: nil for exit status 0, else an *exec.ExitError. It waits
// for the end.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// Signal sends sig to the child alone. A child that has ended is no error.
func (p *Process) Signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to %s: %w", sig, filepath.Base(p.spec.Path), err)
	}
	return nil
}

// Stop sends the stop signal, waits, and after StopTimeout kills. The child has ended
// when it returns; ErrKilled tells that it would not go by itself.
func (p *Process) Stop() error {
	if err := p.Signal(p.spec.StopSignal); err != nil {
		return err
	}
	timer := time.NewTimer(p.spec.StopTimeout)
	defer timer.Stop()
	select {
	case <-p.done:
		p.forget()
		return nil
	case <-timer.C:
		p.Kill()
		return fmt.Errorf("%s did not stop within %v: %w", filepath.Base(p.spec.Path), p.spec.StopTimeout, ErrKilled)
	}
}

// Kill ends the child and its process group at once, and returns when the child has ended.
func (p *Process) Kill() {
	select {
	case <-p.done:
	default:
		// The group first: its leader's id cannot be given to another before it is reaped.
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
		_ = p.Signal(syscall.SIGKILL)
		<-p.done
	}
	p.forget()
}

func (p *Process) forget() {
	if p.spec.PIDFile != "" {
		_ = os.Remove(p.spec.PIDFile)
	}
}
