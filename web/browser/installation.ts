// Starts everything for the tests: Postgres, the API with the page, the xDS server, a real Envoy ("fairlead dev").
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, watch, type FSWatcher } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

/** What "fairlead dev" writes when all is up. */
export interface Ready {
  api_url: string;
  api_token: string;
  operator_token: string;
  xds_address: string;
  tenant: string;
  fleet: string;
  node_id: string;
  envoy_path: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    ready: Ready;
  }
}

export default async function setup(project: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-page-"));
  chmodSync(folder, 0o755); // started by root, Postgres runs as somebody else
  const ready = join(folder, "ready.json");
  const program = process.env.FAIRLEAD_BIN ?? join(import.meta.dirname, "../../bin/fairlead");
  const child = spawn(program, ["dev", "--data", folder, "--ready-file", ready, "--http", "127.0.0.1:0", "--xds", "127.0.0.1:0", "--proxy", "127.0.0.1:0"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stdout.on("data", (b: Buffer) => (said += b.toString()));
  child.stderr.on("data", (b: Buffer) => (said += b.toString()));
  const ended = new Promise<never>((_, fail) => child.once("exit", (code) => fail(new Error(`fairlead dev ended with ${code ?? "a signal"}:\n${said}`))));
  ended.catch(() => undefined); // it ends at the end
  let watcher: FSWatcher | undefined;
  const up = new Promise<void>((done) => {
    const seen = () => {
      if (existsSync(ready)) done();
    };
    watcher = watch(folder, seen);
    seen();
  });
  await Promise.race([up, ended]).finally(() => watcher?.close());
  project.provide("ready", parse(readFileSync(ready, "utf8")));
  return async () => {
    const gone = new Promise((done) => child.once("exit", done));
    child.kill("SIGTERM");
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
}

function parse(text: string): Ready {
  const found: unknown = JSON.parse(text);
  if (!isReady(found)) throw new Error(`this is no ready file: ${text}`);
  return found;
}

function isReady(x: unknown): x is Ready {
  return typeof x === "object" && x !== null && "api_url" in x && "api_token" in x && "envoy_path" in x;
}
