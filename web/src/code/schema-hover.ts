// What is known of a field, in words.
import type { Step } from "./document";
import { isDuration, isPlaceholder } from "./schema-check";
import { messageOf, type Get, type Place } from "./schema-types";
import { childValue, listed, placesAt, typesOf } from "./schema-walk";

export interface About {
  title: string;
  /** One fact a line. */
  lines: string[];
  /** Where Envoy's documentation speaks of it. */
  link?: string;
}

/** Of what stands at the path. Undefined where the schema knows nothing of it. */
export function describe(root: Place, value: unknown, path: readonly Step[], get: Get): About | undefined {
  const last = path.at(-1);
  if (last === undefined) return undefined;
  let field = path.length - 1;
  while (field > 0 && typeof path[field] === "number") field--;
  const name = path[field];
  if (typeof name !== "string") return undefined;
  const around = placesAt(root, value, path.slice(0, field), get);
  const own = placesAt(root, value, path, get);
  if (own.length === 0) return undefined;
  const held = path.reduce<unknown>((v, s) => childValue(v, s), value);
  const about = describeField(around, own, name);
  const message = messageOf(held);
  if (message !== undefined) about.lines.push(`Holds ${message}.`);
  if (typeof last === "number") about.title = `${name}, element ${last + 1}`;
  return about;
}

export function describeField(around: readonly Place[], own: readonly Place[], name: string): About {
  const lines = [typeWords(own)];
  if (own.some((p) => p.schema.deprecated === true)) lines.push("Envoy says that it is deprecated.");
  const values = listed(own).filter((v) => typeof v !== "boolean");
  if (values.length > 1) lines.push(`One of ${values.slice(0, 24).join(", ")}${values.length > 24 ? ", …" : ""}.`);
  for (const { schema: s } of own) {
    const least = s.minimum ?? s.exclusiveMinimum;
    const most = s.maximum ?? s.exclusiveMaximum;
    if (least !== undefined || most !== undefined) lines.push(bounds(least, s.exclusiveMinimum !== undefined, most, s.exclusiveMaximum !== undefined));
  }
  const link = fieldLink(around, own, name);
  return { title: name, lines, ...(link === undefined ? {} : { link }) };
}

function bounds(least: number | undefined, open: boolean, most: number | undefined, openTop: boolean): string {
  const parts = [
    ...(least === undefined ? [] : [open ? `more than ${least}` : `at least ${least}`]),
    ...(most === undefined ? [] : [openTop ? `less than ${most}` : `at most ${most}`]),
  ];
  const said = parts.join(", ");
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}

/** The message's link is in its description; that of a field follows from it. */
function fieldLink(around: readonly Place[], own: readonly Place[], name: string): string | undefined {
  const docs = "https://www.envoyproxy.io/";
  const holder = around.find((p) => p.schema.description?.startsWith(docs) && p.schema.properties?.[name] !== undefined);
  if (holder?.schema.description?.includes("-msg-")) return `${holder.schema.description.replace("-msg-", "-field-")}-${name.replace(/_/g, "-")}`;
  return own.find((p) => p.schema.description?.startsWith(docs))?.schema.description;
}

/** What kind of value it takes. */
export function typeWords(places: readonly Place[]): string {
  const real = places.filter((p) => !isPlaceholder(p.schema));
  if (real.some((p) => isDuration(p.schema))) return `seconds, such as "0.25s"`;
  const types = typesOf(real);
  const title = real.find((p) => p.schema.title !== undefined)?.schema.title;
  if (types.includes("object")) return title ?? (real.some((p) => p.schema.properties?.["@type"] !== undefined) ? "extension, by its @type" : "map");
  if (types.includes("array")) return "list";
  if (types.includes("enum")) return title === undefined ? "one of a list" : `${title}, one of a list`;
  if (types.includes("integer")) return "whole number";
  if (types.includes("number")) return "number";
  if (types.includes("boolean")) return "true or false";
  return types.includes("string") ? "text" : (title ?? "value");
}
