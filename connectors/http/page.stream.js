// One connection to the edge. A WebSocket, since a browser opens 255 of them to a host, but only six connections for
// all else. It cannot tell why it was refused, and some proxies let none through: then the same is asked for as
// Server-Sent Events, which says why, or is the stream.

const EVENTS = new URL("events", import.meta.url);

/** Returns the headers of a request with `token`; "" is none. */
export function headers(token, more) {
  return token ? { ...more, Authorization: `Bearer ${token}` } : { ...more };
}

/** Returns what a refusal says: its status, a word for programs and a sentence for people. */
export async function refusal(reply) {
  const said = await reply.json().catch(() => ({}));
  return { status: reply.status, message: `The edge answers ${reply.status}.`, ...said };
}

/** Returns where a stream of `ids` is, from `mark` on ("": from now). Edges are not redirected to, but named. */
function place(ids, mark) {
  const query = ids.map((id) => `id=${encodeURIComponent(id)}`).join("&");
  return new URL(`?${query}&redirect=no${mark ? `&last_event_id=${mark}` : ""}`, EVENTS);
}

function ask(where, token, signal) {
  return fetch(where, { headers: headers(token), signal, cache: "no-store" });
}

/** Returns why a stream of `ids` is refused, {} if it is not. */
export async function refusalOf(ids, token) {
  const abort = new AbortController();
  try {
    const reply = await ask(place(ids, ""), token, abort.signal);
    return reply.ok ? {} : await refusal(reply);
  } catch (error) {
    return {};
  } finally {
    abort.abort();
  }
}

/** A connection that tells of `ids` from `mark` on: it calls `hear(messages)`, and `end(why)` if it ends by itself. */
export class Stream {
  constructor(ids, token, mark, hear, end) {
    this.ids = ids;
    this.heard = Date.now();
    this.retry = undefined;
    this.hear = hear;
    this.end = end;
    this.abort = new AbortController();
    this.where = place(ids, mark);
    this.connect(token);
  }

  connect(token) {
    const where = new URL(this.where);
    where.protocol = where.protocol.replace("http", "ws");
    let opened = false;
    try {
      this.socket = new WebSocket(where, token ? ["tidewire", `bearer.${token}`] : ["tidewire"]);
    } catch (error) {  // a token with characters that no protocol's name may have
      this.askInstead(token);
      return;
    }
    this.socket.onopen = () => { opened = true; };
    this.socket.onmessage = (event) => this.take(event.data.split("\n"));
    this.socket.onclose = () => { if (opened) this.over({}); else this.askInstead(token); };
  }

  async askInstead(token) {
    try {
      const reply = await ask(this.where, token, this.abort.signal);
      if (reply.ok) await this.read(reply.body.getReader());
      this.over(reply.ok ? {} : await refusal(reply));
    } catch (error) {
      this.over({ message: "The edge does not answer." });
    }
  }

  async read(reader) {
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop();
      this.take(lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)));
    }
  }

  take(lines) {
    this.heard = Date.now();
    const messages = lines.map((line) => JSON.parse(line));
    for (const message of messages) if (message.kind === "moved") this.retry = message.retry_ms;
    if (messages.length && !this.abort.signal.aborted) this.hear(messages);
  }

  over(why) {
    if (this.abort.signal.aborted) return;
    this.close();
    this.end(why);
  }

  close() {
    this.abort.abort();
    if (this.socket) this.socket.close();
  }
}
