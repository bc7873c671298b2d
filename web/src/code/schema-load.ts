// Fetches schemas as they are needed: what works with them says which ones it lacks, and is asked again when they are here.
// They are the same until the server is updated, and hold nothing of a tenant.
import { api, Refused, take, type ResourceType } from "../api/client";
import { isSchema, typePath, type Get, type Place, type SchemaObject } from "./schema-types";

/** Answers a schema, null where there is none. */
export type Ask = (path: string) => Promise<SchemaObject | null>;

const rounds = 8; // extensions in extensions: each may need one more

export class Schemas {
  private readonly known = new Map<string, SchemaObject | null>();
  private readonly underway = new Map<string, Promise<boolean>>();
  constructor(private readonly ask: Ask) {}

  /** Those that are here. */
  readonly get: Get = (path) => this.known.get(path) ?? undefined;

  /** What work answers when all the schemas that it asks for are here. What cannot be fetched is left out. */
  async with<T>(work: (get: Get) => T): Promise<T> {
    const failed = new Set<string>();
    for (let i = 0; ; i++) {
      const missing = new Set<string>();
      const answer = work((path) => {
        if (!this.known.has(path) && !failed.has(path)) missing.add(path);
        return this.get(path);
      });
      if (missing.size === 0 || i === rounds) return answer;
      await Promise.all([...missing].map(async (path) => ((await this.fetch(path)) ? undefined : failed.add(path))));
    }
  }

  private fetch(path: string): Promise<boolean> {
    const asked =
      this.underway.get(path) ??
      this.ask(path).then(
        (schema) => {
          this.known.set(path, schema);
          return true;
        },
        () => false, // it is asked for again next time
      ).finally(() => this.underway.delete(path));
    this.underway.set(path, asked);
    return asked;
  }
}

async function fromServer(path: string): Promise<SchemaObject | null> {
  try {
    const message = path.startsWith(typePath) ? path.slice(typePath.length) : undefined;
    const type = typeOf(path);
    if (message === undefined && type === undefined) return null;
    const answer: unknown =
      message !== undefined
        ? await take(api.GET("/v1/schemas/type/{message}", { params: { path: { message } } }))
        : type && (await take(api.GET("/v1/schemas/{type}", { params: { path: { type } } })));
    return isSchema(answer) ? answer : null;
  } catch (e) {
    if (e instanceof Refused && (e.status === 404 || e.status === 400)) return null;
    throw e;
  }
}

const types: readonly ResourceType[] = ["listeners", "routes", "scoped-routes", "virtual-hosts", "clusters", "endpoints", "secrets", "runtimes", "extensions"];
const typeOf = (path: string) => types.find((t) => path === `/v1/schemas/${t}`);

export const schemas = new Schemas(fromServer);

/** The schema of a whole document, {type, name, labels, body, ...}. */
export function documentSchema(type: ResourceType): Place {
  const text = (more: Partial<SchemaObject> = {}): SchemaObject => ({ type: "string", ...more });
  const schema: SchemaObject = {
    title: "A document",
    type: "object",
    additionalProperties: false,
    required: ["type", "name"],
    patternProperties: { "^(keep|revision|etag)$": true }, // known, and not offered
    properties: {
      type: { const: type },
      name: text({ minLength: 1 }),
      variant: text(),
      selector: text({ maxLength: 1024 }),
      priority: { type: "integer" },
      ttl: text({ pattern: "^(-?[0-9]+(\\.[0-9]{1,9})?s)$|^[0-9.]+(ms|s|m|h)" }),
      ...(type === "clusters" && { delivery: { const: "by-name" } }),
      labels: { type: "object", additionalProperties: text() },
      description: text(),
      ...(type === "secrets" && { keep: { type: "boolean" } }),
      body: { $ref: `/v1/schemas/${type}` },
    },
  };
  return { schema, root: schema };
}
