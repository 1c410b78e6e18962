// Rows of an answer as a table: those of a bag by their text, those of a list by their places.

const MOST_ROWS = 200;

/** Returns the elements that show `rows`; those that `message` has added are marked as fresh. */
export function table({ form, columns, answer }, message, text) {
  const shown = form === "bag" ? [...answer].sort(byText) : answer;
  const fresh = marks(form, message), made = document.createElement("table");
  if (columns) made.createTHead().append(line("th", columns, text));
  const body = made.createTBody();
  for (const [place, row] of shown.slice(0, MOST_ROWS).entries()) {
    const one = line("td", row, text), mark = form === "list" ? String(place) : JSON.stringify(row);
    if (fresh.get(mark)) {
      one.className = "fresh";
      fresh.set(mark, fresh.get(mark) - 1);
    }
    body.append(one);
  }
  return [made, count(shown.length)];
}

/** Returns how often each row, or place, has come with the message. */
function marks(form, message) {
  const found = new Map();
  if (!message || message.kind !== "change") return found;
  for (const member of message.added || []) {
    const mark = form === "list" ? String(member[0]) : JSON.stringify(member);
    found.set(mark, (found.get(mark) || 0) + 1);
  }
  return found;
}

function line(cell, values, text) {
  const row = document.createElement("tr");
  for (const value of values) {
    const one = document.createElement(cell);
    one.textContent = text(value);
    if (value === null) one.className = "none";
    row.append(one);
  }
  return row;
}

function count(rows) {
  const made = document.createElement("p");
  made.className = "count";
  const more = rows > MOST_ROWS ? `, of which ${MOST_ROWS} are shown` : "";
  made.textContent = rows === 0 ? "no rows" : rows === 1 ? "1 row" : `${rows.toLocaleString("en")} rows${more}`;
  return made;
}

function byText(one, other) {
  const [a, b] = [JSON.stringify(one), JSON.stringify(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}
