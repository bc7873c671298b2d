// Style sheets that did not come. The bundle's own loader asks for each one once, so that they are asked for again here.
const missing = new Set<string>();

addEventListener(
  "error",
  (e) => {
    if (!(e.target instanceof HTMLLinkElement) || e.target.rel !== "stylesheet") return;
    missing.add(e.target.href);
    e.target.remove();
  },
  true,
);

/** Asks again for what did not come. Throws if that fails again. */
export async function styles(): Promise<void> {
  await Promise.all([...missing].map(load));
}

function load(href: string): Promise<void> {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = href;
  return new Promise((done, fail) => {
    link.onload = () => {
      missing.delete(href);
      done();
    };
    link.onerror = () => fail(new Error(`${href} does not come`));
    document.head.append(link);
  });
}
