import { expect, test } from "vitest";
import { admits, bootstrapParams, startCommand, wanted } from "./bootstrap";

test("an Envoy beside its server goes without TLS, any other with it", () => {
  expect(wanted({}, "edge", "localhost")).toEqual({ client: "envoy", node: "edge-1", xds: "localhost:18000", plaintext: true, tokenFile: "" });
  expect(wanted({}, "edge", "fairlead.example.com").plaintext).toBe(false);
  expect(wanted({ xds: "xds.example.com:443" }, "edge", "localhost").plaintext).toBe(false);
  expect(wanted({ client: "nonsense" }, "edge", "localhost").client).toBe("envoy");
});

test("the parameters are those that the client takes", () => {
  const words = { client: "grpc", node: "pay-1", xds: "a:1", plaintext: "false", label: "metadata.canary=true, locality.region=eu", cluster: "pay" };
  expect(bootstrapParams(wanted(words, "edge", "h"), words)).toEqual({
    client: "grpc", node_id: "pay-1", xds: ["a:1"], plaintext: false, token_file: "/etc/fairlead/node.token", node_cluster: "pay", label: ["metadata.canary=true", "locality.region=eu"],
  });
  const relayed = { client: "grpc", xds: "127.0.0.1:18002", token_file: "/left/over" };
  expect(bootstrapParams(wanted(relayed, "edge", "h"), relayed)).toEqual({ client: "grpc", node_id: "edge-1", xds: ["127.0.0.1:18002"], plaintext: true });
  expect(bootstrapParams(wanted({ xds: "," }, "edge", "h"), {})).toBeUndefined();
});

test("the command has the token where the client reads it, as the shell's text alone", () => {
  const envoy = wanted({}, "edge", "localhost");
  expect(startCommand(envoy, "envoy.yaml", undefined)).toBe("export FAIRLEAD_NODE_TOKEN='THE NODE TOKEN'\nenvoy -c envoy.yaml");
  expect(startCommand(envoy, "envoy.yaml", "a'b")).toContain(`'a'\\''b'`);
  const file = wanted({ token_file: "/etc/t" }, "edge", "localhost");
  expect(startCommand(file, "envoy.yaml", "T")).toBe("umask 077 && printf %s 'T' > '/etc/t'.new && mv '/etc/t'.new '/etc/t'\nenvoy -c envoy.yaml");
  expect(startCommand(wanted({ client: "grpc", plaintext: "false" }, "e", "h"), "grpc.json", "T")).toContain("GRPC_EXPERIMENTAL_XDS_BOOTSTRAP_CALL_CREDS=true");
  expect(startCommand(wanted({ client: "grpc", plaintext: "true" }, "e", "h"), "grpc.json", "T")).not.toContain("'T'");
});

test("a credential is for one id, or for those that begin alike", () => {
  expect(admits("edge-1", "edge-1")).toBe(true);
  expect(admits("edge-1", "edge-10")).toBe(false);
  expect(admits("edge-*", "edge-10")).toBe(true);
  expect(admits("*", "x")).toBe(true);
});
