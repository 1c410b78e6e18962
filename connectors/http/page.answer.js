// What is known of one subscription after each message: the answer that holds, or why there is none.

/** Returns what is known once `message` is heard; `known` is what was known before it, undefined for nothing. */
export function after(known, message) {
  const sql = message.sql || (known && known.sql) || "";
  switch (message.kind) {
    case "answer":
      return { ...message, sql, answer: message.status === "live" ? message.answer : undefined };
    case "snapshot":
      return live(message, sql, message.added || message.new);
    case "change":
    case "resync":
      return live(message, sql, message.added ? exchanged((known && known.answer) || [], message) : message.new);
    case "reset":
      return { kind: "reset", id: message.id, sql };
    default:
      return { ...message, sql };
  }
}

function live({ id, version, n }, sql, answer) {
  return { kind: "answer", status: "live", id, version, n, sql, answer };
}

/** Returns `values` without those removed, each of which takes one like it away, and with those added. */
function exchanged(values, { removed, added }) {
  const gone = new Map();
  for (const mark of removed.map((value) => JSON.stringify(value))) gone.set(mark, (gone.get(mark) || 0) + 1);
  const kept = values.filter((value) => {
    const mark = gone.size ? JSON.stringify(value) : "";
    const times = gone.get(mark) || 0;
    if (times) gone.set(mark, times - 1);
    return !times;
  });
  return [...kept, ...added];
}
