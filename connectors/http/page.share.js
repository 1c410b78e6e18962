// A share of the subscriptions: as many as one stream may have, on one connection at a time.

import { Stream } from "./page.stream.js";

export const MOST = 100;
const MOST_BYTES = 7_500, MARK_BYTES = 42;  // a server reads 8,192 bytes of a request's first line
const AGAIN_MS = [1_000, 3_000], REFUSED_MS = 30_000, SILENT_MS = 45_000;

/** Returns how many bytes an id takes in a URL, with its part of the mark. */
const size = (id) => encodeURIComponent(id).length + MARK_BYTES;

/** Whether a stream can have `id` at all. */
export const fits = (id) => fitTogether([id], 1);

/** Whether a stream can have all of `ids`. */
function fitTogether(ids, most) {
  return ids.length <= most && ids.reduce((sum, id) => sum + size(id), 0) <= MOST_BYTES;
}

/** Returns `wanted` in few lists that a stream can have each. Ids stay with others of `lists`, where they stood. */
export function divide(lists, wanted, most) {
  const left = new Set(wanted);
  const divided = lists.map((list) => {
    const kept = list.filter((id) => left.has(id)).slice(0, most);
    for (const id of kept) left.delete(id);
    return kept;
  });
  for (const id of left) {
    const roomy = divided.find((list) => fitTogether([...list, id], most));
    if (roomy) roomy.push(id); else divided.push([id]);
  }
  for (const list of [...divided].reverse()) {
    const roomy = divided.find((other) => other !== list && other.length && fitTogether([...other, ...list], most));
    if (roomy) roomy.push(...list.splice(0));
  }
  return divided;
}

/** Calls of `on`: hear(ids, messages), lost(), refused(share, why), changed(), again(), mark(ids). */
export class Share {
  constructor(token, on) {
    this.token = token;
    this.on = on;
    this.ids = [];
    this.current = null;
    this.coming = null;
    this.timer = 0;
    this.said = "connecting";
    this.status = 0;
  }

  get live() {
    return this.current !== null;
  }

  /** The ids that are spoken of now. */
  get heard() {
    return this.current ? this.current.ids : [];
  }

  /** Follows `ids` from now on. What runs goes on until the connection that takes its place has spoken. */
  carry(ids) {
    const open = this.coming || this.current;
    this.ids = ids;
    if (open ? same(open.ids, ids) : this.timer) return;
    if (this.coming) this.coming.close();
    this.coming = null;
    if (this.current && same(this.current.ids, ids)) return;
    const stream = new Stream(ids, this.token, this.on.mark(ids), (messages) => this.hear(stream, messages),
      (why) => this.ended(stream, why));
    this.coming = stream;
  }

  hear(stream, messages) {
    if (stream === this.coming) {
      if (this.current) this.current.close();
      this.current = stream;
      this.coming = null;
      this.say("live", 0);
    }
    this.on.hear(stream.ids, messages);
  }

  ended(stream, why) {
    if (stream === this.current) {
      this.current = null;
      this.on.lost();
      if (this.coming) this.say("connecting again", 0);
      else this.wait("connecting again", 0, stream.retry || between(AGAIN_MS));
      return;
    }
    this.coming = null;
    this.on.refused(this, why);
  }

  /** Tries again in `ms`, and says meanwhile why not now. */
  wait(said, status, ms = status ? REFUSED_MS : between(AGAIN_MS)) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.timer = 0; this.on.again(); }, ms);
    if (!this.live) this.say(said, status);
  }

  say(said, status) {
    this.said = said;
    this.status = status;
    this.on.changed();
  }

  /** Gives up a connection on which not even a sign of life came for long: its other end is gone. */
  check(now) {
    for (const stream of [this.current, this.coming]) if (stream && now - stream.heard > SILENT_MS) stream.over({});
  }

  close() {
    clearTimeout(this.timer);
    for (const stream of [this.current, this.coming]) if (stream) stream.close();
  }
}

function same(left, right) {
  return left.length === right.length && left.every((id, index) => id === right[index]);
}

function between([least, most]) {
  return least + Math.random() * (most - least);
}
