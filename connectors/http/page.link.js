// A tab's way to the streams: through a worker that all tabs of the browser share, or through streams of its own.

import { Listeners } from "./page.listeners.js";

const BEAT_MS = 3_000, TRIES = 3;
const NAME = "tidewire-1";  // counts up when tabs and worker speak otherwise: tabs of the version before keep theirs

export class Link {
  /** Calls `hear(messages)`. */
  constructor(hear) {
    this.hear = hear;
    this.shown = { token: "", ids: [] };
    this.own = null;
    this.port = null;
    this.answered = true;
    this.tries = 0;
    addEventListener("pagehide", () => this.leave());
    addEventListener("pageshow", (event) => { if (event.persisted) this.start(); });
    document.addEventListener("visibilitychange", () => this.say());
    this.start();
    setInterval(() => this.beat(), BEAT_MS);
  }

  /** Follows `ids` with `token`, and nothing else, from now on. */
  show(token, ids) {
    this.shown = { token, ids };
    this.say();
  }

  start() {
    if ("SharedWorker" in window && !this.own && this.tries < TRIES) this.connect(); else this.listenAlone();
  }

  connect() {
    this.leave();
    this.answered = true;
    this.tries += 1;
    try {
      const worker = new SharedWorker(new URL("page.worker.js", import.meta.url), { type: "module", name: NAME });
      worker.onerror = () => this.listenAlone();
      this.port = worker.port;
    } catch (error) {
      this.listenAlone();
      return;
    }
    this.port.onmessage = ({ data }) => {
      this.answered = true;
      this.tries = 0;
      if (data.length) this.hear(data);
    };
    this.say();
  }

  /** Does without a worker, where the browser has none. A tab that nobody sees then follows nothing. */
  listenAlone() {
    this.leave();
    this.own = this.own || new Listeners();
    this.say();
  }

  /** Says again what is shown; a worker that has not answered since the last time is made anew, or given up. */
  beat() {
    if (this.port && !this.answered) this.start();
    this.answered = false;
    this.say();
  }

  say() {
    if (this.port) this.port.postMessage(this.shown);
    if (this.own) this.own.show(this, document.hidden ? { ...this.shown, ids: [] } : this.shown, this.hear);
  }

  leave() {
    if (this.own) this.own.forget(this);
    if (!this.port) return;
    this.port.postMessage(null);
    this.port.close();
    this.port = null;
  }
}
