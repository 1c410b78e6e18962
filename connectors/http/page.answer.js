// What is known of one subscription after each message: the answer that holds, or why there is none.
// Of rows an answer has its `form` (bag or list), the rows as arrays, `columns` where the edge has said their names, and
// `key` where rows go by it. Where not all rows are known it has no `answer`.

/** Returns what is known once `message` is heard; `known` is what was known before it, undefined for nothing. */
export function after(known, message) {
  const sql = message.sql || (known && known.sql) || "";
  switch (message.kind) {
    case "answer":
      return { ...message, sql, answer: message.status === "live" ? message.answer : undefined };
    case "snapshot":
      return live(message, sql, begun(message), described(message, known));
    case "change":
    case "resync":
      return live(message, sql, changed(known, message), described(message, known));
    case "final":
      return { ...live(message, sql, changed(known, message), described(message, known)), status: "final" };
    case "reset":
      return { kind: "reset", id: message.id, sql };
    default:
      return { ...message, sql };
  }
}

function live({ id, version, n }, sql, answer, rows) {
  return { kind: "answer", status: "live", id, version, n, sql, answer, ...rows };
}

/** Returns what there is to say of rows besides them; nothing of other answers. */
function described(message, known) {
  const before = known && known.kind === "answer" && known.version === message.version ? known : {};
  const form = message.form || before.form;
  if (!form) return {};
  const said = { form };
  for (const name of ["columns", "key"]) {
    if (message[name] || before[name]) said[name] = message[name] || before[name];
  }
  return said;
}

/** Returns the answer that a message begins with, undefined where the rows are to be looked up. */
function begun(message) {
  if (message.snapshot === "none" || message.whole === "look") return undefined;
  return message.form === "list" ? message.added.map(([, row]) => row) : message.added || message.new;
}

function changed(known, message) {
  if (!message.added) return message.new;
  if (message.whole) return begun(message);
  const { form, answer } = known || {};
  if (form && answer === undefined) return undefined;
  if (form === "list") return replaced(answer, message);
  return message.key ? exchangedByKey(answer, message) : exchanged(answer || [], message);
}

/** Returns `values` without those removed, each of which takes one like it away, and with those added. */
function exchanged(values, { removed, added }) {
  const gone = new Map();
  for (const mark of removed.map((value) => JSON.stringify(value))) gone.set(mark, (gone.get(mark) || 0) + 1);
  const kept = values.filter((value) => {
    const mark = gone.size ? JSON.stringify(value) : "";
    const times = gone.get(mark) || 0;
    if (times > 1) gone.set(mark, times - 1); else gone.delete(mark);
    return !times;
  });
  return [...kept, ...added];
}

/** Returns `rows` without those that have the key of one removed or added, and with those added. */
function exchangedByKey(rows, { removed, added, key }) {
  const keyOf = (row) => JSON.stringify(key.map((place) => row[place]));
  const gone = new Set([...removed, ...added].map(keyOf));
  return [...rows.filter((row) => !gone.has(keyOf(row))), ...added];
}

/** Returns a list without the rows at places that are removed, from behind, and with those added, from the front. */
function replaced(rows, { removed, added }) {
  const left = [...rows];
  for (const [place] of removed) left.splice(place, 1);
  for (const [place, row] of added) left.splice(place, 0, row);
  return left;
}
