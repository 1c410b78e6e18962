// All that is followed with one token: its subscriptions, divided among connections, and what is known of each.

import { after } from "./page.answer.js";
import { MOST, Share, divide, fits } from "./page.share.js";
import { refusalOf } from "./page.stream.js";

const SOON_MS = 20, LEAVE_MS = 1_000, CHECK_MS = 15_000;
const OF_IDS = [400, 403, 413, 414, 431];  // what a stream is refused with because of an id, or of their number

/** Calls `tell(messages)` with what is news, and `changed()` when a connection's state may have changed. */
export class Streams {
  constructor(token, tell, changed) {
    this.token = token;
    this.tell = tell;
    this.changed = changed;
    this.wanted = new Set();
    this.known = new Map();
    this.shares = [];
    this.most = MOST;
    this.epoch = -1;
    this.soon = 0;
    this.checking = setInterval(() => { for (const share of this.shares) share.check(Date.now()); }, CHECK_MS);
  }

  /** Follows `ids`, and nothing else, from now on. */
  want(ids) {
    const heard = new Set(this.shares.flatMap((share) => share.heard));
    for (const id of this.known.keys()) if (!this.wanted.has(id) && !heard.has(id)) this.known.delete(id);
    this.wanted = ids;
    this.planSoon();
  }

  close() {
    clearInterval(this.checking);
    clearTimeout(this.soon);
    for (const share of this.shares) share.close();
    this.tell = this.changed = this.planSoon = () => {};  // a share may still be finding out why it was refused
  }

  /** Returns how the connections of `ids` stand: the worst of them. */
  state(ids) {
    const theirs = this.shares.filter((share) => share.ids.some((id) => ids.has(id)));
    const waiting = theirs.find((share) => !share.live);
    if (waiting) return { state: "waiting", said: waiting.said, status: waiting.status };
    const followed = new Set(theirs.flatMap((share) => share.ids));
    const planned = [...ids].every((id) => followed.has(id) || this.isRefused(id));
    if (!planned) return { state: "waiting", said: "connecting", status: 0 };
    return theirs.length ? { state: "live", said: "live", status: 0 } : { state: "idle", said: "", status: 0 };
  }

  planSoon() {
    this.soon = this.soon || setTimeout(() => this.plan(), SOON_MS);
  }

  plan() {
    this.soon = 0;
    const possible = [...this.wanted].filter((id) => !this.isRefused(id));
    const long = possible.filter((id) => !fits(id));
    for (const id of long) this.refuse(id, { status: 414, message: "This is too long for the id of a subscription." });
    const lists = divide(this.shares.map((share) => share.ids), possible.filter(fits), this.most);
    while (this.shares.length < lists.length) this.shares.push(new Share(this.token, this));
    const left = this.shares.filter((share, index) => !lists[index].length);
    for (const share of left) setTimeout(() => share.close(), LEAVE_MS);
    this.shares = this.shares.filter((share, index) => lists[index].length);
    lists.filter((list) => list.length).forEach((list, index) => this.shares[index].carry(list));
    this.changed();
  }

  isRefused(id) {
    const known = this.known.get(id);
    return known !== undefined && known.kind === "refused";
  }

  refuse(id, why) {
    const message = { ...why, kind: "refused", id };
    this.known.set(id, after(this.known.get(id), message));
    this.tell([message]);
  }

  // -- what shares call ----------------------------------------------------------------------------------------------

  hear(ids, messages) {
    const told = [];
    for (const message of messages) {
      if (message.kind === "progress") {
        this.epoch = Math.max(this.epoch, message.epoch);
        told.push({ ...message, ids });
      } else if (message.kind === "reset" && !message.id) {
        this.epoch = -1;
        for (const id of ids) told.push(this.learn({ kind: "reset", id }));
      } else if (message.id && this.isNews(message)) told.push(this.learn(message));
    }
    if (told.length) this.tell(told);
  }

  learn(message) {
    this.known.set(message.id, after(this.known.get(message.id), message));
    return message;
  }

  /** Whether a message says more than what is known: two connections may tell the same while one replaces the other. */
  isNews({ id, kind, version, n }) {
    const known = this.known.get(id);
    if (known === undefined) return true;
    if (kind === "unknown") return known.kind !== "ended";
    if (version === undefined || known.version === undefined) return true;
    return version !== known.version ? version > known.version : n > known.n || (n === known.n && kind === "answer");
  }

  /** Returns where a reader of `ids` stands, as `Last-Event-ID` says it (docs/push.md); "" for nowhere. */
  mark(ids) {
    const of = ({ version, n } = {}) => (version >= 0 && n >= 0 ? `${version}.${n}` : "-");
    const marks = ids.map((id) => of(this.known.get(id)));
    return marks.some((mark) => mark !== "-") ? `${this.epoch}:${marks.join(",")}` : "";
  }

  /** A connection was lost: the next edge, or this one with other settings, may admit what was refused. */
  lost() {
    for (const [id, known] of this.known) if (known.kind === "refused") this.known.delete(id);
  }

  again() {
    this.planSoon();
  }

  /** Finds out which ids a refusal is about: those are set aside, and the others are followed. */
  async refused(share, why) {
    if (!OF_IDS.includes(why.status)) {
      share.wait(why.message || "connecting again", why.status === 401 ? 401 : 0);
      return;
    }
    const ids = share.ids, many = why.error === "subscriptions";
    const bad = many ? [] : await this.refusals(ids);
    for (const [id, reason] of bad) if (this.wanted.has(id)) this.refuse(id, reason);
    if (bad.length || ids.length > 1) {
      if (!bad.length) this.most = Math.ceil(ids.length / 2);
      this.planSoon();
    } else share.wait(why.message, why.status);
  }

  /** Returns those of `ids` that are refused when asked for alone, each with the reason. */
  async refusals(ids) {
    const asked = ids.map(async (id) => [id, await refusalOf([id], this.token)]);
    return (await Promise.all(asked)).filter(([, reason]) => OF_IDS.includes(reason.status));
  }
}
