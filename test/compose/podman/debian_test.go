package podman

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// debian is a machine with systemd, Postgres and the package.
type debian struct{ *engine }

// run runs a script in it, as root.
func (d debian) run(script string) string {
	d.Helper()
	return strings.TrimSpace(d.program("", "podman", "exec", d.container("debian"), "bash", "-euc", script))
}

// packages builds the Debian package of this tree, and the same as a newer version: its files are others to the machine.
func (e *engine) packages() string {
	e.Helper()
	dir, bin := e.TempDir(), e.TempDir()
	e.program("", "go", "build", "-C", "tools/release", "-o", bin+"/release", ".")
	e.program("", filepath.Join(bin, "release"), "-root", ".", "-allow-changes", "-version", "1.2.3-rc.1", "-platforms", goEnv(e, "GOOS")+"/"+goEnv(e, "GOARCH"), "-out", dir+"/dist")
	e.program("", "bash", "-euc", `cp "$1"/dist/*.deb "$1/old.deb"; dpkg-deb --raw-extract "$1/old.deb" "$1/new"
sed -i 's/^Version: .*/Version: 1.2.4/' "$1/new/DEBIAN/control"; dpkg-deb -Znone --build "$1/new" "$1/new.deb"; rm -r "$1/new" "$1/dist"`, "bash", dir)
	return dir
}

// TestDebian goes the steps of docs/install.md and docs/upgrade.md for the package, with dpkg, systemd and the units as they are.
func TestDebian(t *testing.T) {
	e := newEngine(t, "podman", "runc", "debootstrap", "go")
	e.program("", "test/compose/podman/images", e.cache, "--debian", debianImage)
	// systemd in a container leaves mounts private, and then its own do not reach the units.
	e.program("", "podman", "run", "--detach", "--name", e.container("debian"), "--systemd=always", "--privileged", "--network", "none", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=2000:2000",
		"--volume", e.packages()+":/packages:ro", debianImage, "sh", "-c", "mount --make-rshared / && exec /sbin/init")
	d := debian{e}
	for until := time.Now().Add(time.Minute); ; { // an exec takes podman half a second
		out, _, err := e.try("", "podman", "exec", e.container("debian"), "systemctl", "is-system-running", "--wait")
		if err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("systemd does not start: %s %v", out, err)
		}
	}
	d.run(`dpkg --install /packages/old.deb`)
	if got := d.run(`systemctl is-active fairlead-api fairlead-xds || true`); got != "inactive\ninactive" {
		t.Errorf("an installation starts servers: %s", got)
	}
	d.run(`cat >/etc/postgresql/*/main/pg_hba.conf <<<'local all all trust'
systemctl restart postgresql
su postgres -c 'createdb fairlead'
database() { sed -i "s|^\(FAIRLEAD_[A-Z_]*DATABASE_URL\)=.*|\1=postgres://$2@/fairlead?host=/var/run/postgresql|" "/etc/fairlead/$1.env"; }
database migrate postgres
database api fairlead_app
database xds fairlead_node
systemctl start fairlead-migrate
fairlead-api keys --api-dir /root/keys/api --xds-dir /root/keys/xds
install -m 400 /root/keys/api/* /etc/fairlead/api/
install -m 400 /root/keys/xds/* /etc/fairlead/xds/
fairlead-api certs --authority /root/authority --for /root/certs/api:0:localhost --for /root/certs/xds:0:localhost
for server in api xds; do
	install -m 640 -g "fairlead-$server" "/root/certs/$server"/tls.crt "/root/certs/$server"/tls.key "/etc/fairlead/$server/"
done
systemctl enable --now fairlead-api fairlead-xds`)
	ready := func() {
		t.Helper()
		var why string
		for until := time.Now().Add(time.Minute); time.Now().Before(until); {
			out, errs, err := e.try("", "podman", "exec", e.container("debian"), "bash", "-euc",
				`for port in 8081 18001; do /usr/lib/fairlead/probe "http://127.0.0.1:$port/readyz"; done; systemctl is-active fairlead-api fairlead-xds`)
			if err == nil {
				return
			}
			why = out + errs
		}
		t.Fatalf("the servers are not ready: %s\n%s", why, d.run(`journalctl --no-pager --lines 20 --unit 'fairlead-*'`))
	}
	ready()
	pids := func() string {
		return d.run(`systemctl show --value --property MainPID fairlead-api fairlead-xds | xargs`)
	}
	programs := func() string {
		return d.run(`for p in $(systemctl show --value --property MainPID fairlead-api fairlead-xds); do readlink "/proc/$p/exe"; done | xargs`)
	}
	const now = "/usr/lib/fairlead/api /usr/lib/fairlead/xds"
	before := pids()
	for _, deb := range []string{"old", "new"} { // the same again, and a newer one
		d.run(`dpkg --install /packages/` + deb + `.deb`)
		if after := pids(); after != before || slices.Contains(strings.Fields(before), "0") {
			t.Errorf("the package %s restarts a server: the processes were %s, and are %s", deb, before, after)
		}
		if got := programs(); got != "/usr/lib/fairlead/api (deleted) /usr/lib/fairlead/xds (deleted)" {
			t.Errorf("after the package %s the servers run %s", deb, got)
		}
		ready()
	}
	if got := d.run(`dpkg-query --show --showformat '${Version}' fairlead`); got != "1.2.4" {
		t.Errorf("%s is installed", got)
	}
	for _, name := range []string{"docs/install.md", "docs/upgrade.md"} {
		text, err := os.ReadFile(filepath.Join(e.root, name))
		must(t, err)
		for _, step := range []string{"systemctl start fairlead-migrate", "systemctl restart fairlead-xds", "systemctl restart fairlead-api"} {
			if !strings.Contains(string(text), step) {
				t.Errorf("%s does not say %q", name, step)
			}
		}
	}
	d.run(`systemctl start fairlead-migrate; systemctl restart fairlead-xds`)
	ready()
	d.run(`systemctl restart fairlead-api`)
	ready()
	if after := programs(); after != now || pids() == before {
		t.Errorf("after the restarts the servers run %s", after)
	}
	d.run(`for unit in migrate api xds; do
	url=$(sed -n 's/^FAIRLEAD_[A-Z_]*DATABASE_URL=//p' "/etc/fairlead/$unit.env")
	sed -i '/^FAIRLEAD_[A-Z_]*DATABASE_URL=/d' "/etc/fairlead/$unit.env"
	(umask 077; printf 'cells:\n  - name: one\n    database_url: %s\n' "$url" >"/etc/fairlead/$unit/cells.yaml")
	variable=FAIRLEAD_CELLS_FILE; if [ "$unit" = migrate ]; then variable=FAIRLEAD_OWNER_CELLS_FILE; fi
	mkdir -p "/etc/systemd/system/fairlead-$unit.service.d"
	printf '[Service]\nLoadCredential=cells.yaml:/etc/fairlead/%s/cells.yaml\nEnvironment=%s=%%d/cells.yaml\n' "$unit" "$variable" >"/etc/systemd/system/fairlead-$unit.service.d/override.conf"
done
systemctl daemon-reload
systemctl start fairlead-migrate
systemctl restart fairlead-xds fairlead-api`)
	ready()
	d.run(`dpkg --remove fairlead`)
	if got := d.run(`systemctl is-active fairlead-api fairlead-xds || true; ls /etc/fairlead/xds/seal.key`); got != "inactive\ninactive\n/etc/fairlead/xds/seal.key" {
		t.Errorf("after the package is removed: %s", got)
	}
}

const debianImage = "localhost/fairlead-debian:stand-in"
