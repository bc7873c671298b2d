// Resources as documents that an apply takes: what a tenant writes of them, and not what the API tells beside it.
import type { Resource } from "../api/client";
import { yamlOf } from "./yaml";

/** In the order in which "fairlead export" writes them. */
const content = ["type", "name", "variant", "selector", "priority", "ttl", "delivery", "labels", "description", "body"] as const;

/** What stands where a key of a resource of before the rules is not shown. */
const redacted = "[redacted]";

/** A secret is sealed: it stands there as the one that is stored. */
export function documentOf(r: Resource): Record<string, unknown> {
  const keep = r.body === undefined || JSON.stringify(r).includes(redacted);
  const out: Record<string, unknown> = {};
  for (const key of content) {
    if (r[key] !== undefined && !(keep && key === "body")) out[key] = r[key];
  }
  if (keep) out.keep = true;
  return out;
}

/** The document as a text of YAML. */
export const textOf = (r: Resource) => yamlOf(documentOf(r));

/** A size for people. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(bytes < 10_240 ? 1 : 0)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** team=shop,tier=web as the API's labels. Undefined where it is not that. */
export function labelsOf(words: string): string[] | undefined {
  const parts = words.split(",").map((p) => p.trim()).filter((p) => p !== "");
  return parts.every((p) => /^[^=!\s][^=!]*=[^=!]*$/.test(p)) ? parts : undefined;
}
