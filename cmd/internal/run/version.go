package run

import (
	"io"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// release is what a release gives the linker (-X); "" in every other build.
var release string

// Release is the version that this program was released as, or "".
func Release() string { return release }

// Version is that of the release, else of the module, else the commit, else "".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	return version(release, info, ok)
}

func version(release string, info *debug.BuildInfo, ok bool) string {
	if release != "" || !ok {
		return release
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// VersionFlag is --version of a server.
type VersionFlag struct {
	Version tellVersion `name:"version" help:"Print the version, and end."`
}

type tellVersion bool

// BeforeReset is called by kong where the flag was given, before it looks what else is required.
func (tellVersion) BeforeReset(k *kong.Kong) error {
	v := Version()
	if v == "" {
		v = "unknown"
	}
	if _, err := io.WriteString(k.Stdout, k.Model.Name+" "+v+"\n"); err != nil {
		return err
	}
	k.Exit(0)
	return nil
}
