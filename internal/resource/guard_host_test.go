package resource_test

import (
	"testing"

	"fairlead/internal/resource"
)

// TestT22_Hosts: what is the proxy's own machine, or a metadata service, in every form of which nothing has to be asked.
func TestT22_Hosts(t *testing.T) {
	t.Parallel()
	for rule, hosts := range map[resource.Rule][]string{
		resource.RuleLoopback: {
			"127.0.0.1", "127.8.9.10", "127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F.1", "0177.0.0.1", "017700000001", "0x7f.0.0.0x1", "0", "0.0.0.0", "0x0",
			"::1", "::", "[::1]", "::1%lo", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:0.0.0.0", "::ffff:127.0.0.1%1", "::ffff:7f00:1%lo", "::127.0.0.1%1", "::127.0.0.1", "::ffff:0:127.0.0.1",
			"64:ff9b::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:7f00:1::abcd",
			"localhost", "LOCALHOST", "localhost.", "localhost..", " localhost ", "a.localhost", "a.b.LocalHost.", "localhost.localdomain", "localhost6", "ip6-loopback",
			"localtest.me", "x.localtest.me.", "lvh.me", "a.b.lvh.me", "vcap.me", "kubernetes.docker.internal",
			"host.docker.internal", "Host.Docker.Internal.", "gateway.docker.internal", "docker.for.mac.host.internal", "docker.for.mac.localhost", "docker.for.win.host.internal",
			"host.containers.internal", "host.minikube.internal", "host.lima.internal", "host.rancher-desktop.internal", "host.orb.internal", "host.k3d.internal",
			"127.0.0.1.nip.io", "127-0-0-1.nip.io", "app.127.0.0.1.nip.io", "app-127-0-0-1.nip.io", "7f000001.nip.io", "app-7F000001.nip.io.", "0-0-0-0.nip.io",
			"127.0.0.1.sslip.io", "www-127-0-0-1.sslip.io", "--1.sslip.io", "www.--1.sslip.io", "--ffff-127-0-0-1.sslip.io", "--ffff-7f00-1.sslip.io", "127.0.0.1.xip.io", "127-0-0-1.traefik.me",
			"127-0-0-1.wildcard.example.com", "a.127.0.0.1.example.com",
			"127.0.0.1\x00", "127.0.0.1\x00.example.com", "::1\x00", "localhost\x00x",
			`loc\097lhost`, `\108ocalhost`, `l\ocalhost`, `LOC\065LHOST`, `localhost\046`, `localtest\.me`, `127-0-0-\049.nip.io`, `app.lvh\046me`, "loc\\097lhost\x00x",
			"１２７.0.0.1", "127。0。0。1", "ｌｏｃａｌｈｏｓｔ", "localhost｡", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "127.0.0.1．nip．io",
		},
		resource.RuleLinkLocal: {
			"169.254.169.254", "169.254.0.1", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "fe80::1", "fe80::1%eth0", "[fe80::1]",
			"::ffff:169.254.169.254", "::ffff:169.254.169.254%2", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "fd00:ec2::254", "fd00:ec2::23", "[fd00:ec2::23]", "FD00:0EC2:0:0:0:0:0:23", "fd00:ec2::253", "fd20:ce::254",
			"fd00:c1::a9fe:a9fe", "fd00:a9fe:a9fe::1", "fd00:42::42", "2001:db8:64::a9fe:a9fe", "2001:db8:64::169.254.169.254", "fd00-ec2--23.sslip.io", "api.metadata.cloud.ibm.com", "API.metadata.cloud.IBM.com.", "168.63.129.16", "100.100.100.200", "192.0.0.192",
			"metadata", "Metadata.google.internal.", "METADATA.GOOGLE.INTERNAL..", "instance-data", "metadata.tencentyun.com", "ｍｅｔａｄａｔａ",
			"169.254.169.254\x00", "169.254.169.254\x00.example.com", "metadata.google.internal\x00x", `metad\097ta.google.internal`, `metadata\.google.internal`, `\109etadata`, `169-254-169-25\052.nip.io`,
			"169.254.169.254.sslip.io", "169-254-169-254.nip.io", "a9fea9fe.nip.io", "x-a9fea9fe.nip.io", "fe80--1.sslip.io", "100-100-100-200.nip.io", "169-254-169-254.example.com",
		},
		"": {
			"", "10.0.0.1", "192.168.1.1", "8.8.8.8", "example.com", "my-localhost.com", "localhost.example.com", "notlocaltest.me", "metadata.example.com", "1.2.3.4.5", "256.1", "1.16777216", "a.1",
			"10-0-0-1.nip.io", "0a000001.nip.io", "7f000001.example.com", "ip-10-0-0-1.ec2.internal", "app-1-2-3-4.svc", "0-1-2-3.svc", "v1-27-0-0.example.com", "2001:db8::1", "2002:a00:1::", "64:ff9b::a00:1",
			"\x00", "example.com\x00localhost", `\`, `a\`, `a\1`, `a\999`, `example\.com`, `l\\ocalhost`,
			"backend.local", "docker.internal", "backend.docker.internal", "host.internal", "host.example.internal", "host.docker.internal.example.com", "deadbeef.nip.io", "bücher.example", "xn--bcher-kva.example", "fd00::1", "fd00:ec3::23", "fd00:a9fe::1", "2001:db8::a9:fea9:fe00", "fd00:42::43", "metadata.cloud.ibm.com",
		},
	} {
		for _, h := range hosts {
			if got := resource.WhereForTest(h); got != rule {
				t.Errorf("%q: %q, want %q", h, got, rule)
			}
		}
	}
}
