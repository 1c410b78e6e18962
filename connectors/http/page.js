// The page of an edge: asks questions, and shows answers as they change. All tabs of a browser share a connection.

import { after } from "./page.answer.js";
import { Link } from "./page.link.js";
import { table } from "./page.rows.js";
import { headers, refusal } from "./page.stream.js";

const KEPT_CHANGES = 20, LATE_MS = 5000, PROCESSES_MS = 5000;
const at = (id) => document.getElementById(id);
const cards = new Map();
let token = sessionStorage.getItem("tidewire-token") || "";
const link = new Link(hear);

// -- asking ----------------------------------------------------------------------------------------------------------

at("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = at("ask").querySelector("button"), sql = at("sql").value.trim();
  button.disabled = true;
  try {
    const reply = await fetch("subscriptions", {
      method: "POST", headers: headers(token, { "Content-Type": "application/json" }), body: JSON.stringify({ sql }),
    });
    if (reply.ok) accepted(await reply.json(), sql); else refused(await refusal(reply));
  } catch (error) {
    refused({ message: `The edge does not answer: ${error.message}.` });
  }
  button.disabled = false;
});

at("sql").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) at("ask").requestSubmit();
});

function verdict(kind, title, message, hint) {
  const box = at("verdict");
  box.className = kind;
  box.hidden = false;
  box.replaceChildren(element("strong", title));
  if (message) box.append(element("pre", message));
  if (hint) box.append(element("p", hint, "try"));
}

function accepted(said, sql) {
  verdict("accepted", said.status === "written" ? "Written; no edge has answered yet." : "Accepted.", "", "");
  watch(said.id, sql);
}

function refused(said) {
  const word = said.code || said.error;
  verdict("refused", word ? `Refused: ${word}` : "Refused", said.message, said.hint);
  if (said.status === 401) askForToken();
}

function askForToken() {
  at("more").open = true;
  at("token").focus();
}

at("watch").addEventListener("submit", (event) => {
  event.preventDefault();
  watch(at("known").value, "");
  at("known").value = "";
});

at("access").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = at("token").value.trim();
  at("token").value = "";
  if (/[^!-~]/.test(given)) {
    refused({ message: "A token has no blanks, and no characters but those of ASCII." });
    return;
  }
  token = given;
  sessionStorage.setItem("tidewire-token", token);
  at("verdict").hidden = true;
  link.show(token, [...cards.keys()]);
});

// -- cards -----------------------------------------------------------------------------------------------------------

function element(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function watch(id, sql) {
  if (!id || cards.has(id)) return;
  if (/\p{Surrogate}/u.test(id)) {
    refused({ message: `\`${id}\` is no Unicode text, as the id of a subscription must be.` });
    return;
  }
  const node = at("card").content.firstElementChild.cloneNode(true);
  const card = { id, node, known: { kind: "waiting", sql }, seen: 0, position: null };
  node.querySelector(".id").textContent = id;
  node.querySelector(".hide").addEventListener("click", () => hide(id));
  node.querySelector(".end").addEventListener("click", () => end(id));
  cards.set(id, card);
  at("answers").prepend(node);
  show(card, false);
  remember();
}

function hide(id) {
  cards.get(id).node.remove();
  cards.delete(id);
  remember();
}

function end(id) {
  fetch(`subscriptions/${encodeURIComponent(id)}`, { method: "DELETE", headers: headers(token) })
    .then(async (reply) => { if (!reply.ok) refused(await refusal(reply)); })
    .catch((error) => refused({ message: `The edge does not answer: ${error.message}.` }));
}

function remember() {
  history.replaceState(null, "", "#" + [...cards.keys()].reverse().map(encodeURIComponent).join("&"));
  at("empty").hidden = cards.size > 0;
  link.show(token, [...cards.keys()]);
}

/** What a card says in place of an answer, by the kind of the message that was heard last. */
const instead = {
  waiting: () => "waiting for the first answer",
  reset: () => "waiting for the first answer",
  ended: ({ reason }) => reason,
  unknown: () => "there is no such subscription",
  refused: ({ message }) => message,
  elsewhere: ({ id, url }) => {
    const edge = url.slice(0, url.lastIndexOf("/subscriptions/"));
    const made = element("a", `another edge has it: ${new URL(url).host}`);
    made.href = `${edge}/#${encodeURIComponent(id)}`;
    return made;
  },
};

function show(card, changed, message) {
  const { known } = card, place = card.node.querySelector(".answer"), state = card.node.querySelector(".status");
  card.node.querySelector(".sql").textContent = known.sql;
  state.textContent = known.kind === "answer" ? known.status : known.kind === "reset" ? "waiting" : known.kind;
  state.className = `status ${state.textContent}`;
  place.classList.toggle("none", known.answer === null || known.answer === undefined);
  place.classList.toggle("rows", hasRows(known));
  place.setAttribute("aria-live", hasRows(known) ? "off" : "polite");
  place.replaceChildren(...content(known, message));
  place.classList.remove("changed");
  if (changed) { void place.offsetWidth; place.classList.add("changed"); }
}

function hasRows(known) {
  return known.kind === "answer" && known.answer !== undefined && known.form !== undefined;
}

function content(known, message) {
  if (known.kind !== "answer") return [instead[known.kind](known)];
  if (known.answer === undefined) return [known.form && known.status === "live" ? "its changes are told, and not its rows" : instead.waiting()];
  if (hasRows(known)) return table(known, message, text);
  if (!Array.isArray(known.answer)) return [text(known.answer)];
  return known.answer.length ? known.answer.map((value) => element("span", text(value), "value")) : ["none"];
}

function text(value) {
  return value === null ? "no value" : Array.isArray(value) ? value.map(text).join(", ") : String(value);
}

/** Says what a change tells: of a set what went and came, of rows each in brackets, those of a list with their places. */
function told(message) {
  if (!message.added) return `${text(message.old)} → ${text(message.new)}`;
  if (message.same) return "the same rows as before";
  if (message.whole) return message.whole === "look" ? "other rows" : `other rows, ${message.added.length} in all`;
  const member = (one) => !Array.isArray(one) ? text(one) : Array.isArray(one[1]) ? `${one[0]}: (${text(one[1])})` : `(${text(one)})`;
  const some = (members) => members.slice(0, KEPT_CHANGES).map(member).join(", ") + (members.length > KEPT_CHANGES ? ", …" : "");
  return `− ${some(message.removed)}  + ${some(message.added)}`;
}

function note(card, message) {
  const list = card.node.querySelector(".changes");
  const said = told(message);
  const many = message.changes > 1 ? `  (${message.changes} changes)` : "";
  list.prepend(element("li", `${message.n}.  ${said}${many}`));
  while (list.children.length > KEPT_CHANGES) list.lastChild.remove();
}

// -- messages --------------------------------------------------------------------------------------------------------

function hear(messages) {
  for (const message of messages) {
    if (message.kind === "progress") progress(message);
    else if (message.kind === "connection") connection(message);
    else if (cards.has(message.id)) learn(cards.get(message.id), message);
  }
}

function learn(card, message) {
  const changes = ["change", "resync", "final"].includes(message.kind);
  card.known = after(card.known, message);
  if (card.known.kind !== "answer") card.position = null;
  if (changes) note(card, message);
  show(card, changes || message.kind === "snapshot", message);
  tick();
}

function progress(message) {
  const cardsOf = message.ids.map((id) => cards.get(id)).filter((card) => card && card.known.kind === "answer");
  for (const card of cardsOf) { card.position = message; card.seen = Date.now(); }
  tick();
}

/** Says how the connection stands. A question about the token is gone when the connection is there. */
function connection({ state, said, status }) {
  const idle = cards.size ? "nothing to follow" : "not watching anything yet", before = at("connection").dataset.status;
  at("connection").dataset.state = state;
  at("connection").dataset.status = status;
  at("connection").textContent = state === "idle" ? idle : said;
  if (status === 401) refused({ status, error: "unauthorized", message: said });
  else if (before === "401" && state === "live") at("verdict").hidden = true;
}

function tick() {
  for (const card of cards.values()) {
    const place = card.node.querySelector(".place"), age = Date.now() - card.seen;
    const late = card.position !== null && age > LATE_MS;
    place.classList.toggle("late", late);
    place.textContent = card.position === null ? "" : `complete to epoch ${card.position.epoch}, batch ` +
      `${card.position.batch}${late ? `; nothing newer for ${Math.round(age / 1000)} s` : ""}`;
  }
}
setInterval(tick, 1000);

// -- the processes of the edge's stack -------------------------------------------------------------------------------

function trouble(process) {
  const last = process.last[process.last.length - 1], clock = (moment) => new Date(moment).toLocaleTimeString();
  const again = process.next_start ? `starts again at ${clock(process.next_start)}` : "is starting";
  const times = process.deaths > 1 ? `; ${process.deaths} times in a row` : "";
  return `${process.name} ended at ${clock(last.at)} (${last.why}${times}), and ${again}.`;
}

async function processes() {
  if (document.visibilityState !== "visible") return;
  let told = [];
  try {
    told = (await (await fetch("health", { headers: headers(token), cache: "no-store" })).json()).processes || [];
  } catch (error) { /* the stream says that the edge does not answer */ }
  const ill = told.filter((process) => process.state !== "ready" && process.last && process.last.length);
  at("processes").replaceChildren(...ill.map((process) => element("li", trouble(process))));
  at("processes").hidden = !ill.length;
}
processes();
setInterval(processes, PROCESSES_MS);

/** Returns an id of the address; what no browser can have written there is taken as it is. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    return part;
  }
}

for (const part of location.hash.slice(1).split("&")) watch(decoded(part), "");
