// The page of an edge: asks questions, and shows answers as one stream of events tells them.
"use strict";

const KEPT_CHANGES = 20, LATE_MS = 5000, AGAIN_MS = 2000, PROCESSES_MS = 5000;
const at = (id) => document.getElementById(id);
const cards = new Map();
let stream = null, mark = "", token = sessionStorage.getItem("tidewire-token") || "";

function headers(more) {
  return token ? { ...more, Authorization: `Bearer ${token}` } : { ...more };
}

// -- asking ----------------------------------------------------------------------------------------------------------

at("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = at("ask").querySelector("button"), sql = at("sql").value.trim();
  button.disabled = true;
  try {
    const reply = await fetch("subscriptions", {
      method: "POST", headers: headers({ "Content-Type": "application/json" }), body: JSON.stringify({ sql }),
    });
    const said = await reply.json();
    if (reply.ok) accepted(said, sql); else refused(said, reply.status);
  } catch (error) {
    refused({ message: `The edge does not answer: ${error.message}.` }, 0);
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

function refused(said, status) {
  verdict("refused", `Refused${said.code || said.error ? ": " + (said.code || said.error) : ""}`, said.message, said.hint);
  if (status === 401) { at("more").open = true; at("token").focus(); }
}

at("watch").addEventListener("submit", (event) => {
  event.preventDefault();
  watch(at("known").value, "");
  at("known").value = "";
});

at("access").addEventListener("submit", (event) => {
  event.preventDefault();
  token = at("token").value;
  sessionStorage.setItem("tidewire-token", token);
  at("token").value = "";
  at("verdict").hidden = true;
  listen();
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
  const node = at("card").content.firstElementChild.cloneNode(true);
  const card = { id, node, sql, answer: undefined, distinct: false, n: 0, version: -1, seen: 0, position: null };
  node.querySelector(".id").textContent = id;
  node.querySelector(".hide").addEventListener("click", () => hide(id));
  node.querySelector(".end").addEventListener("click", () => end(id));
  cards.set(id, card);
  at("answers").prepend(node);
  status(card, "waiting");
  show(card, false);
  remember();
}

function hide(id) {
  cards.get(id).node.remove();
  cards.delete(id);
  remember();
}

function end(id) {
  fetch(`subscriptions/${encodeURIComponent(id)}`, { method: "DELETE", headers: headers({}) })
    .then(async (reply) => { if (!reply.ok) refused(await reply.json(), reply.status); })
    .catch((error) => refused({ message: error.message }, 0));
}

function remember() {
  history.replaceState(null, "", "#" + [...cards.keys()].reverse().map(encodeURIComponent).join("&"));
  at("empty").hidden = cards.size > 0;
  listen();
}

function status(card, text) {
  const place = card.node.querySelector(".status");
  place.textContent = text;
  place.className = `status ${text}`;
}

function show(card, changed) {
  card.node.querySelector(".sql").textContent = card.sql;
  const place = card.node.querySelector(".answer");
  place.classList.toggle("none", card.answer === null || card.answer === undefined);
  if (card.answer === undefined) place.textContent = "waiting for the first answer";
  else if (card.answer === null) place.textContent = "no value";
  else if (Array.isArray(card.answer)) {
    place.replaceChildren(...card.answer.map((value) => element("span", text(value), "value")));
    if (!card.answer.length) place.textContent = "none";
  } else place.textContent = text(card.answer);
  place.classList.remove("changed");
  if (changed) { void place.offsetWidth; place.classList.add("changed"); }
}

function text(value) {
  return value === null ? "no value" : Array.isArray(value) ? value.map(text).join(", ") : String(value);
}

function note(card, message) {
  const list = card.node.querySelector(".changes");
  const said = message.added ? `− ${text(message.removed)}  + ${text(message.added)}` : `${text(message.old)} → ${text(message.new)}`;
  const many = message.changes > 1 ? `  (${message.changes} changes)` : "";
  list.prepend(element("li", `${message.n}.  ${said}${many}`));
  while (list.children.length > KEPT_CHANGES) list.lastChild.remove();
}

/** Returns `values` without `removed`, each of which takes one like it away. */
function without(values, removed) {
  const gone = new Map();
  for (const mark of removed.map((value) => JSON.stringify(value))) gone.set(mark, (gone.get(mark) || 0) + 1);
  return values.filter((value) => {
    const mark = gone.size ? JSON.stringify(value) : "";
    const times = gone.get(mark) || 0;
    if (times) gone.set(mark, times - 1);
    return !times;
  });
}

// -- messages --------------------------------------------------------------------------------------------------------

const messages = {
  answer(card, message) {
    card.answer = message.status === "live" ? message.answer : undefined;
    card.sql = message.sql || card.sql;
    status(card, message.status);
    show(card, false);
  },
  snapshot(card, message) {
    card.sql = message.sql || card.sql;
    card.answer = message.added ? message.added : message.new;
    status(card, "live");
    show(card, true);
  },
  change(card, message) {
    if (message.added) {
      card.answer = [...without(card.answer || [], message.removed), ...message.added];
    } else card.answer = message.new;
    note(card, message);
    show(card, true);
  },
  resync(card, message) { messages.change(card, message); },
  ended(card, message) {
    status(card, "ended");
    card.answer = undefined;
    show(card, false);
    card.node.querySelector(".answer").textContent = message.reason;
  },
  unknown(card) {
    status(card, "unknown");
    card.node.querySelector(".answer").textContent = "there is no such subscription";
  },
  elsewhere(card, message) {
    status(card, "elsewhere");
    const edge = new URL(message.url), link = element("a", `another edge has it: ${edge.host}`);
    link.href = `${edge.origin}/#${encodeURIComponent(card.id)}`;
    card.node.querySelector(".answer").replaceChildren(link);
  },
};

function hear(message) {
  if (message.kind === "progress") return progress(message);
  if (message.kind === "moved") return undefined;
  const card = cards.get(message.id);
  if (card && messages[message.kind]) messages[message.kind](card, message);
  return undefined;
}

function progress(message) {
  for (const card of cards.values()) { card.position = message; card.seen = Date.now(); }
  tick();
}

function tick() {
  for (const card of cards.values()) {
    const place = card.node.querySelector(".place"), age = Date.now() - card.seen;
    if (!card.position) continue;
    const late = age > LATE_MS;
    place.classList.toggle("late", late);
    place.textContent = `complete to epoch ${card.position.epoch}, batch ${card.position.batch}` +
      (late ? `; nothing newer for ${Math.round(age / 1000)} s` : "");
  }
}
setInterval(tick, 1000);

// -- the stream ------------------------------------------------------------------------------------------------------

function connection(state, said) {
  at("connection").dataset.state = state;
  at("connection").textContent = said;
}

function listen() {
  if (stream) stream.abort();
  stream = null;
  mark = "";
  if (cards.size) follow(stream = new AbortController());
  else connection("idle", "not watching anything yet");
}

async function follow(mine) {
  const query = [...cards.keys()].map((id) => `id=${encodeURIComponent(id)}`).join("&");
  while (!mine.signal.aborted) {
    let wait = AGAIN_MS;
    try {
      const reply = await fetch(`events?${query}`, {
        headers: headers(mark ? { "Last-Event-ID": mark } : {}), signal: mine.signal, cache: "no-store",
      });
      if (reply.ok) {
        connection("live", "live");
        wait = await read(reply.body.getReader());
      } else {
        const said = await reply.json();
        if (reply.status === 401 || reply.status === 403) { connection("waiting", said.message); return refused(said, reply.status); }
        connection("waiting", said.message);
      }
    } catch (error) {
      if (mine.signal.aborted) return undefined;
    }
    if (at("connection").dataset.state === "live") connection("waiting", "connecting again");
    await new Promise((done) => setTimeout(done, wait));
  }
  return undefined;
}

async function read(reader) {
  const decoder = new TextDecoder();
  let rest = "", wait = AGAIN_MS;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return wait;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith("data: ")) hear(JSON.parse(line.slice(6)));
      else if (line.startsWith("id: ")) mark = line.slice(4);
      else if (line.startsWith("retry: ")) wait = Number(line.slice(7));
    }
  }
}

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
    told = (await (await fetch("health", { cache: "no-store" })).json()).processes || [];
  } catch (error) { /* the stream says that the edge does not answer */ }
  const ill = told.filter((process) => process.state !== "ready" && process.last && process.last.length);
  at("processes").replaceChildren(...ill.map((process) => element("li", trouble(process))));
  at("processes").hidden = !ill.length;
}
processes();
setInterval(processes, PROCESSES_MS);

for (const part of location.hash.slice(1).split("&")) if (part) watch(decodeURIComponent(part), "");
