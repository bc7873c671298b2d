// Which page the server hands out by now.

/** The script that this page began with. Its name tells its content. */
const entry = () => document.querySelector('script[type="module"][src]')?.getAttribute("src") ?? "";

/** This page, a newer one that was installed meanwhile, or no answer. */
export async function installed(): Promise<"this" | "newer" | "none"> {
  const mine = entry();
  try {
    const answer = await globalThis.fetch(location.origin, { cache: "no-store" });
    if (!answer.ok) return "none";
    return mine !== "" && !(await answer.text()).includes(mine) ? "newer" : "this";
  } catch {
    return "none";
  }
}

const key = "fairlead.reloaded";

/** Reloads the page for a newer one. A page that comes back the same is not reloaded again. */
export function reloadOnce(): boolean {
  const mine = entry();
  try {
    if (sessionStorage.getItem(key) === mine) return false;
    sessionStorage.setItem(key, mine);
  } catch {
    return false;
  }
  location.reload();
  return true;
}
