// The page's policy lets no text become markup but through this door. Nothing here makes markup of text; Mantine sets the
// text of its style elements this way, and what has no "<" in it can be no element.
interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML: (text: string) => string }): unknown;
}

declare global {
  var trustedTypes: TrustedTypes | undefined;
}

globalThis.trustedTypes?.createPolicy("default", {
  createHTML(text) {
    if (text.includes("<")) throw new TypeError("no text becomes markup here");
    return text;
  },
});

export {};
