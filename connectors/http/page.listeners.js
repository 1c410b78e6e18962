// Who shows what: the tabs of a browser, each with its token and the subscriptions it shows.

import { Streams } from "./page.streams.js";

const FORGET_MS = 180_000;  // a browser lets a hidden tab speak once a minute

/** Each listener is told messages of what it shows. It says so again and again, or is forgotten, as tabs crash. */
export class Listeners {
  constructor() {
    this.listeners = new Map();
    this.streams = new Map();
    setInterval(() => this.forgetSilent(Date.now() - FORGET_MS), FORGET_MS / 6);
  }

  /** Notes what `key` shows now, and calls `tell(messages)`, at once with what is known of what it did not show. */
  show(key, { token, ids }, tell) {
    const before = this.listeners.get(key) || { token: null, ids: new Set(), said: "" }, same = before.token === token;
    const listener = { token, ids: new Set(ids), tell, said: same ? before.said : "", seen: Date.now() };
    const fresh = ids.filter((id) => !same || !before.ids.has(id));
    this.listeners.set(key, listener);
    if (!same) this.want(before.token);
    if (fresh.length || before.ids.size !== listener.ids.size) this.want(token);
    this.tellKnown(listener, fresh);
    this.tellState(listener);
  }

  forget(key) {
    const listener = this.listeners.get(key);
    this.listeners.delete(key);
    if (listener) this.want(listener.token);
  }

  forgetSilent(since) {
    for (const [key, { seen }] of this.listeners) if (seen < since) this.forget(key);
  }

  of(token) {
    return [...this.listeners.values()].filter((listener) => listener.token === token);
  }

  want(token) {
    const ids = new Set(this.of(token).flatMap((listener) => [...listener.ids]));
    let streams = this.streams.get(token);
    if (!ids.size) {
      if (streams) streams.close();
      this.streams.delete(token);
      return;
    }
    if (!streams) {
      const tell = (messages) => { for (const one of this.of(token)) this.tell(one, messages); };
      const changed = () => { for (const one of this.of(token)) this.tellState(one); };
      this.streams.set(token, streams = new Streams(token, tell, changed));
    }
    streams.want(ids);
  }

  tell({ ids, tell }, messages) {
    const theirs = messages.filter((one) => (one.ids ? one.ids.some((id) => ids.has(id)) : ids.has(one.id)));
    if (theirs.length) tell(theirs);
  }

  tellKnown(listener, fresh) {
    const streams = this.streams.get(listener.token);
    const known = streams ? fresh.map((id) => streams.known.get(id)).filter((one) => one !== undefined) : [];
    if (known.length) listener.tell(known);
  }

  tellState(listener) {
    const streams = this.streams.get(listener.token);
    const state = streams ? streams.state(listener.ids) : { state: "idle", said: "", status: 0 };
    const said = JSON.stringify(state);
    if (said === listener.said) return;
    listener.said = said;
    listener.tell([{ kind: "connection", ...state }]);
  }
}
