// The read-only page: fleets, nodes and receipts of one tenant. The server holds all
// state; this file holds the token (for the life of the tab) and what is on screen.
// Everything that comes from the server is shown as text, never as markup.

const every = 2000; // ms between two looks
const receiptsShown = 10; // newest revisions that show their receipt

const at = (id) => document.getElementById(id);
const tokenKey = "fairlead.token";

let me = null; // the answer of /v1/whoami
let timer = 0;
let generation = 0; // of the view: an answer for an older one is dropped
const receipts = new Map(); // "fleet/revision" -> receipt that will hardly change

class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `the server answered ${status}`);
    this.status = status;
    this.requestId = problem.request_id;
  }
}

async function get(path) {
  const answer = await fetch(path, {
    headers: { Authorization: `Bearer ${sessionStorage.getItem(tokenKey) ?? ""}` },
    credentials: "omit",
    cache: "no-store",
  });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, body);
  return body;
}

// h makes an element. Strings become text nodes; attributes are set, never parsed.
function h(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== undefined && value !== null) e.setAttribute(name, String(value));
  }
  e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

const chip = (kind, ...words) => h("span", { class: `chip ${kind}` }, ...words);
const segment = encodeURIComponent;
const tenantPath = () => `/v1/tenants/${segment(me.tenant)}`;
const fleetPath = (fleet) => `${tenantPath()}/fleets/${segment(fleet)}`;
const fleetLink = (fleet) => `#/fleets/${segment(fleet)}`;

function ago(time) {
  if (!time) return "";
  const s = Math.max(0, (Date.now() - Date.parse(time)) / 1000);
  if (s < 5) return "now";
  if (s < 90) return `${Math.round(s)} s ago`;
  if (s < 5400) return `${Math.round(s / 60)} min ago`;
  if (s < 172800) return `${Math.round(s / 3600)} h ago`;
  return `${Math.round(s / 86400)} days ago`;
}

const when = (time) => (time ? h("time", { datetime: time, title: new Date(time).toLocaleString() }, ago(time)) : "");
const stateKind = { live: "good", delivered: "good", acked: "good", late: "good", pending: "wait", offline: "", stored: "", refusing: "bad", rejected: "bad", nacked: "bad" };

// ---- what is shown ----

async function everyPage(path, most) {
  const items = [];
  let cursor = "";
  do {
    const page = await get(`${path}?limit=500${cursor && `&cursor=${segment(cursor)}`}`);
    items.push(...page.items);
    cursor = page.next_cursor ?? "";
  } while (cursor && items.length < most);
  return { items, more: Boolean(cursor) };
}

async function fleetsView() {
  const { items } = await everyPage(`${tenantPath()}/fleets`, 500);
  return [
    h("h1", null, me.tenant),
    h("p", { class: "soft" }, items.length === 1 ? "1 fleet" : `${items.length} fleets`),
    items.length === 0 && h("p", { class: "card empty" }, "There is no fleet yet."),
    h("div", { class: "grid" }, items.map((f) =>
      h("a", { class: "card fleet", href: fleetLink(f.name) },
        h("strong", null, f.name),
        h("div", { class: "soft" }, f.description || " "),
        h("div", { class: "figures" }, chip("", `revision ${f.revision}`))))),
  ];
}

async function fleetView(name) {
  const [fleet, nodes, revisions] = await Promise.all([
    get(fleetPath(name)),
    everyPage(`${fleetPath(name)}/nodes`, 1000),
    get(`${fleetPath(name)}/revisions?limit=25`),
  ]);
  const shown = revisions.items.slice(0, receiptsShown).filter((r) => r.revision > 0);
  const found = new Map(await Promise.all(shown.map(async (r, i) => [r.revision, await receiptOf(name, r.revision, i === 0)])));
  return [
    h("h1", null, fleet.name),
    fleet.description && h("p", { class: "soft" }, fleet.description),
    h("div", { class: "figures" }, chip("", `revision ${fleet.revision}`), ...counted(nodes.items)),
    section("Nodes", nodes.more ? "the first 1000" : "", nodesTable(nodes.items)),
    section("Revisions", "newest first", revisionsTable(revisions.items, found)),
  ];
}

function counted(nodes) {
  return ["live", "refusing", "offline"].map((state) => {
    const n = nodes.filter((x) => x.state === state).length;
    return n > 0 && chip(stateKind[state], `${n} ${state}`);
  });
}

// receiptOf asks again only where the answer can still move.
async function receiptOf(fleet, revision, newest) {
  const key = `${fleet}/${revision}`;
  const old = receipts.get(key);
  if (old && old.state === "delivered" && !newest) return old;
  const receipt = await get(`${fleetPath(fleet)}/revisions/${revision}/receipt`).catch((e) => {
    if (e.status === 404) return null; // it was compacted away meanwhile
    throw e;
  });
  if (receipt) receipts.set(key, receipt);
  return receipt;
}

function section(title, aside, content) {
  return h("section", { class: "card section" },
    h("div", { class: "head" }, h("h2", null, title), h("span", { class: "soft" }, aside)), content);
}

function table(heads, rows) {
  return h("div", { class: "scroll" }, h("table", null,
    h("thead", null, h("tr", null, heads.map((t) => h("th", { scope: "col" }, t)))),
    h("tbody", null, rows)));
}

function nodesTable(nodes) {
  if (nodes.length === 0) return h("p", { class: "empty" }, "No node has connected yet.");
  return table(["Node", "State", "Runs revision", "Client", "Since"], nodes.map((n) => h("tr", null,
    h("td", { class: "name" }, n.id, n.refusals.filter((r) => !r.resolved_at).map((r) =>
      h("div", { class: "words" }, `${r.type} ${r.name}, revision ${r.revision}: ${r.detail}`))),
    h("td", null, chip(stateKind[n.state] ?? "", n.state)),
    h("td", { class: "number" }, n.settled === 0 ? "–" : String(n.settled)),
    h("td", { class: "short" }, [n.user_agent, n.version].filter(Boolean).join(" "), n.protocol && h("div", { class: "soft" }, n.protocol)),
    h("td", { class: "number" }, when(n.since ?? n.last_seen)))));
}

function revisionsTable(revisions, found) {
  if (revisions.length === 0) return h("p", { class: "empty" }, "Nothing has been written yet.");
  return table(["Revision", "Change", "Delivery", "When"], revisions.map((r) => {
    const receipt = found.get(r.revision);
    return h("tr", null,
      h("td", { class: "number" }, String(r.revision)),
      h("td", null, r.message || r.kind, h("div", { class: "soft" }, changeWords(r))),
      h("td", null, receipt ? delivery(receipt) : ""),
      h("td", { class: "number" }, when(r.committed_at)));
  }));
}

function changeWords(r) {
  return (r.changed === 1 ? "1 resource" : `${r.changed} resources`) + (r.actor ? `, by ${r.actor}` : "");
}

function delivery(receipt) {
  const c = receipt.counts;
  const all = c.acked + c.nacked + c.pending + c.offline;
  const late = c.late > 0 ? `${c.late} that came later` : "";
  const words = (all === 0 ? late || "no node was connected" : `${c.acked} of ${all} nodes` + (late && ` and ${late}`));
  const took = receipt.last_ack_ms === undefined ? "" : ` in ${Math.round(receipt.last_ack_ms)} ms`;
  return [
    chip(stateKind[receipt.state], receipt.state), " ",
    h("span", { class: "soft" }, words + took, c.offline > 0 && `, ${c.offline} offline`),
    receipt.nodes.filter((n) => n.state === "nacked").slice(0, 3).map((n) =>
      h("div", { class: "words" }, `${n.id}: ${n.detail ?? ""}`)),
  ];
}

// ---- where we are ----

function place() {
  const parts = location.hash.replace(/^#\/?/, "").split("/");
  try {
    return parts[0] === "fleets" && parts[1] ? decodeURIComponent(parts[1]) : null;
  } catch {
    return null; // the address is no text
  }
}

function trail(fleet) {
  at("trail").replaceChildren(...[
    me && h("a", { href: "#" }, me.tenant ?? "operator"),
    fleet && h("span", null, fleet),
  ].filter(Boolean));
}

async function show(fleet) {
  if (me.kind === "operator") {
    return [h("section", { class: "card" }, h("h1", null, "This is an operator's token"),
      h("p", { class: "soft" }, "It creates tenants and their first tokens, and reads no configuration. Sign in with a token of a tenant to see its fleets."))];
  }
  return fleet === null ? fleetsView() : fleetView(fleet);
}

async function look() {
  clearTimeout(timer);
  const mine = ++generation;
  try {
    if (!document.hidden) {
      me ??= await get("/v1/whoami");
      const fleet = place();
      const content = await show(fleet);
      if (mine !== generation) return;
      trail(fleet);
      put(content);
      at("door").hidden = true;
      at("leave").hidden = false;
      pulse(false, "live");
    }
  } catch (e) {
    if (mine !== generation) return;
    if (e.status === 401) return leave(e.message);
    if (me === null && e.status === undefined) return leave("the server does not answer");
    if (e.status === 404 || e.status === 403) {
      put([h("section", { class: "card" }, h("h1", null, "Not here"), h("p", { class: "soft" }, e.message))]);
    }
    pulse(true, e.status ? e.message : "the server does not answer");
  }
  timer = setTimeout(look, every);
}

// put leaves alone what is on screen where nothing changed, and while somebody marks a
// text; the focus stays on the same link.
function put(content) {
  const view = at("view");
  const next = h("div", { id: "view" }, content.flat());
  view.hidden = false;
  const marked = getSelection();
  if (view.isEqualNode(next) || (marked && !marked.isCollapsed && view.contains(marked.anchorNode))) return;
  const focused = view.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  view.replaceWith(next);
  if (focused) next.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

function pulse(late, words) {
  const p = at("pulse");
  p.hidden = false;
  p.className = late ? "pulse late" : "pulse";
  if (p.textContent !== words) p.textContent = words; // a screen reader hears changes alone
}

function leave(words) {
  clearTimeout(timer);
  generation++;
  me = null;
  receipts.clear();
  sessionStorage.removeItem(tokenKey);
  at("view").replaceChildren();
  at("trail").replaceChildren();
  for (const id of ["view", "leave", "pulse"]) at(id).hidden = true;
  at("door").hidden = false;
  at("refused").hidden = !words;
  at("refused").textContent = words ?? "";
  at("token").value = "";
  at("token").focus();
}

at("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(tokenKey, at("token").value.trim());
  at("token").value = "";
  look();
});
at("leave").addEventListener("click", () => leave());
addEventListener("hashchange", () => me && look());
document.addEventListener("visibilitychange", () => !document.hidden && me && look());

if (sessionStorage.getItem(tokenKey)) look();
else leave();
