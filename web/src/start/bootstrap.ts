// From what is asked on the page to the parameters of a bootstrap, and to how its client is started.
import type { operations } from "../api/client";

export type BootstrapParams = operations["getBootstrap"]["parameters"]["query"];

/** What the address says. */
export type Words = Readonly<Record<string, string | undefined>>;

export const clients = [
  { value: "envoy", label: "Envoy" },
  { value: "grpc", label: "gRPC client or server" },
  { value: "relay", label: "Relay: an Envoy that adds the token for gRPC clients" },
  { value: "google-grpc", label: "Envoy with google_grpc" },
] as const;
export type Client = (typeof clients)[number]["value"];

export interface Wanted {
  client: Client;
  node: string;
  xds: string;
  plaintext: boolean;
  tokenFile: string;
}

const loopback = /^(localhost|127\.|\[::1\])/;

/** The questions with their answers: those of the address, else what fits most. */
export function wanted(words: Words, fleet: string, host: string): Wanted {
  const client = clients.find((c) => c.value === words.client)?.value ?? "envoy";
  const xds = words.xds ?? `${host}:18000`;
  const plaintext = words.plaintext === undefined ? loopback.test(xds) && client !== "google-grpc" : words.plaintext === "true";
  const needsFile = client === "google-grpc" || (client === "grpc" && !plaintext);
  return { client, node: words.node ?? `${fleet}-1`, xds, plaintext, tokenFile: words.token_file ?? (needsFile ? "/etc/fairlead/node.token" : "") };
}

/** Whether the client sends a token: a gRPC client cannot without TLS. */
export const sendsToken = (w: Wanted) => !(w.client === "grpc" && w.plaintext);

const list = (text: string | undefined) => (text ?? "").split(",").map((t) => t.trim()).filter((t) => t !== "");

/** The parameters, without those that were left empty. Undefined while what is needed is empty. */
export function bootstrapParams(w: Wanted, words: Words): BootstrapParams | undefined {
  const xds = list(w.xds);
  if (w.node === "" || xds.length === 0) return undefined;
  const params: BootstrapParams = { client: w.client, node_id: w.node, xds, plaintext: w.plaintext };
  if (w.tokenFile !== "" && sendsToken(w)) params.token_file = w.tokenFile;
  for (const key of ["region", "zone", "sub_zone", "ca_file", "server_name"] as const) {
    const value = words[key];
    if (value) params[key] = value;
  }
  if (words.cluster) params.node_cluster = words.cluster;
  const labels = list(words.label);
  if (labels.length > 0) params.label = labels;
  return params;
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** What is typed into a shell on the client's machine. Without a token its place is named. */
export function startCommand(w: Wanted, file: string, token: string | undefined): string {
  const lines: string[] = [];
  const value = token === undefined ? "'THE NODE TOKEN'" : quoted(token);
  if (sendsToken(w)) {
    if (w.tokenFile === "") lines.push(`export FAIRLEAD_NODE_TOKEN=${value}`);
    else lines.push(`umask 077 && printf %s ${value} > ${quoted(w.tokenFile)}.new && mv ${quoted(w.tokenFile)}.new ${quoted(w.tokenFile)}`);
  }
  if (w.client === "grpc") {
    lines.push(`export GRPC_XDS_BOOTSTRAP="$PWD/${file}"`);
    if (sendsToken(w)) lines.push("export GRPC_EXPERIMENTAL_XDS_BOOTSTRAP_CALL_CREDS=true");
    lines.push("# then start the program from this shell");
  } else {
    lines.push(`envoy -c ${file}`);
  }
  return lines.join("\n");
}

/** Whether a credential that is for these node ids admits the node. */
export function admits(pattern: string, node: string): boolean {
  return pattern.endsWith("*") ? node.startsWith(pattern.slice(0, -1)) : pattern === node;
}
