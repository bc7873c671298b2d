// JSON Schema as far as Fairlead's own schemas use it (docs/schemas.md).
//
// The checking, completing and telling in schema-*.ts is our own. The libraries that do it either compile schemas by eval,
// which the page's policy refuses (ajv), or run in a worker (monaco), or bring another editor language, a markdown renderer
// and 200 KB along and know nothing of the "@type" by which Envoy's extensions are told (codemirror-json-schema). What
// Fairlead's schemas need is a few hundred lines.

export type Schema = boolean | SchemaObject;

export interface SchemaObject {
  $id?: string;
  $ref?: string;
  $defs?: Record<string, Schema>;
  title?: string;
  description?: string;
  deprecated?: boolean;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: Schema;
  items?: Schema;
  required?: string[];
  minProperties?: number;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  if?: Schema;
  then?: Schema;
}

/** A schema, and the document that its "#/$defs/..." lead into. */
export interface Place {
  schema: SchemaObject;
  root: SchemaObject;
}

/** The document at a path such as /v1/schemas/clusters. Undefined while it is not here, or where there is none. */
export type Get = (path: string) => SchemaObject | undefined;

export const typePath = "/v1/schemas/type/";
const typeUrl = "type.googleapis.com/";

/** The message that an Any says it holds. */
export function messageOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("@type" in value)) return undefined;
  const url = value["@type"];
  return typeof url === "string" && url.startsWith(typeUrl) ? url.slice(typeUrl.length) : undefined;
}

export function isObject(s: Schema | undefined): s is SchemaObject {
  return typeof s === "object";
}

/** What the server answered as a schema: an object. What in it is not understood is not looked at. */
export function isSchema(x: unknown): x is SchemaObject {
  return typeof x === "object" && x !== null && !Array.isArray(x);
}

/** Whether a schema stands for an extension of any kind: the "@type" says which. */
export function isAny(s: SchemaObject): boolean {
  const type = s.properties?.["@type"];
  return isObject(type) && type.const === undefined;
}

/** Where a $ref leads. */
export function follow({ root }: Place, ref: string, get: Get): Place | undefined {
  if (ref.startsWith("#/")) {
    const name = /^#\/\$defs\/(.*)$/.exec(ref)?.[1];
    const found = name === undefined ? undefined : root.$defs?.[decodeURIComponent(name).replace(/~1/g, "/").replace(/~0/g, "~")];
    return isObject(found) ? { schema: found, root } : undefined;
  }
  const found = get(ref);
  return found && { schema: found, root: found };
}
