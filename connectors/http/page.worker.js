// Runs once for all tabs of a browser. A tab posts what it shows, {token, ids}, and null when it leaves; it is answered
// with lists of messages, an empty one as a sign of life.

import { Listeners } from "./page.listeners.js";

const listeners = new Listeners();

addEventListener("connect", ({ ports: [port] }) => {
  const tell = (messages) => port.postMessage(messages);
  port.onclose = () => listeners.forget(port);
  port.onmessage = ({ data }) => {
    if (data === null) return listeners.forget(port);
    listeners.show(port, data, tell);
    return tell([]);
  };
});
