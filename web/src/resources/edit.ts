// One resource in the draft: what is stored, what was typed, and how the one becomes the other.
import { useMemo } from "react";
import type { Resource } from "../api/client";
import { languageOf } from "../code/document";
import { dropEdit, editOf, putEdit, useDraft, type Author, type Edit } from "../draft/store";
import { documentOf, inLanguage, type Identity } from "./document";
import { merge3, type Merged } from "./merge";

export interface Editing {
  edit: Edit | undefined;
  /** What the editor shows. */
  text: string;
  /** The stored document, in the language of the text. Empty where there is none. */
  stored: string;
  /** What is stored is not what the edit began with. */
  stale: boolean;
  change: (text: string) => void;
  language: (to: "yaml" | "json") => void;
  remove: () => void;
  discard: () => void;
  /** The edit with what others have written, as far as both can be had. */
  merge: () => Merged;
  /** The edit as it is, in the place of what others have written. */
  overwrite: () => void;
}

/** The default language is that of an edit, or what the address asks for. */
export function useEditing(author: Author, fleet: string, id: Identity, resource: Resource | null, shown: "yaml" | "json", setShown: (to: "yaml" | "json") => void): Editing {
  const draft = useDraft(author, fleet);
  const edit = editOf(draft, id);
  const writing = edit?.action === "write" ? edit : undefined;
  const yaml = useMemo(() => (resource ? documentOf(resource) : ""), [resource]);
  const language = writing ? languageOf(writing.text, languageOf(writing.base, shown)) : shown;
  const stored = useMemo(() => inLanguage(yaml, language), [yaml, language]);
  const stale = edit !== undefined && edit.etag !== resource?.etag;
  const { type, name, variant } = id;

  const put = (next: Pick<Edit, "action" | "text" | "base">, etag: string | undefined) =>
    putEdit(author, fleet, { ...next, type, name, ...(variant && { variant }), ...(etag !== undefined && { etag }), at: new Date().toISOString() });

  return {
    edit,
    text: writing?.text ?? stored,
    stored,
    stale,
    change: (text) => {
      const base = writing ? writing.base : stored;
      const etag = writing ? writing.etag : resource?.etag;
      if (text === base && etag === resource?.etag && base !== "") dropEdit(author, fleet, id);
      else put({ action: "write", text, base }, etag);
    },
    language: (to) => {
      setShown(to);
      if (writing) put({ action: "write", text: inLanguage(writing.text, to), base: inLanguage(writing.base, to) }, writing.etag);
    },
    remove: () => put({ action: "delete", text: "", base: stored }, resource?.etag),
    discard: () => dropEdit(author, fleet, id),
    merge: () => {
      const merged = merge3(writing?.base ?? "", writing?.text ?? "", stored);
      put({ action: "write", text: merged.text, base: stored }, resource?.etag);
      return merged;
    },
    overwrite: () => put({ action: edit?.action ?? "write", text: edit?.text ?? "", base: stored }, resource?.etag),
  };
}
