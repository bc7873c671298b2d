package compose

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"fairlead/internal/localenvoy"
)

// needed are the programs, by Debian's name of their package.
var needed = []struct{ program, from string }{
	{"podman", "podman"}, {"buildah", "buildah"}, {"runc", "runc"}, {"debootstrap", "debootstrap"}, {"iptables", "iptables"},
	{"podman-compose", "podman-compose, or pip install podman-compose"}, {"docker", ""},
}
