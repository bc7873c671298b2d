// The word of this very answer of the server, without which the page's policy lets no style in. A browser shows it to
// scripts as a property alone.
import { setNonce } from "get-nonce";

function read(): string {
  const meta = typeof document === "undefined" ? null : document.querySelector('meta[property="csp-nonce"]');
  return meta instanceof HTMLElement ? meta.nonce : "";
}

export const nonce = read();
setNonce(nonce); // for the scrollbar of modals
