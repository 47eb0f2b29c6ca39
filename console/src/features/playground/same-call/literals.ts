const shownChars = 48;
const longChars = 200;

/** JSON is valid JavaScript. */
export function jsLiteral(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "undefined";
}

/** A JSON value as Python code. Strings are the same; true, false and null differ. */
export function pythonLiteral(value: unknown, indent = ""): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}    `;
  const list = Array.isArray(value);
  const items = list
    ? value.map((item) => pythonLiteral(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonLiteral(item, inner)}`);
  const [open, close] = list ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return open + close;
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${close}`;
}

/** Arguments, one per line. Parameters that the SDK method does not have go into `extra_body`. */
export function pythonArguments(body: Readonly<Record<string, unknown>>, known: ReadonlySet<string>): string {
  const named = Object.entries(body).filter(([name]) => known.has(name));
  const extra = Object.entries(body).filter(([name]) => !known.has(name));
  const lines = named.map(([name, value]) => `    ${name}=${pythonLiteral(value, "    ")},\n`);
  if (extra.length > 0) lines.push(`    extra_body=${pythonLiteral(Object.fromEntries(extra), "    ")},\n`);
  return lines.join("");
}

/** The same value with long data: URLs cut, so that one can read the rest. */
export function shortened<Value>(value: Value): Value {
  return cut(value) as Value;
}

function cut(value: unknown): unknown {
  if (typeof value === "string") {
    return value.startsWith("data:") && value.length > longChars ? `${value.slice(0, shownChars)}…` : value;
  }
  if (Array.isArray(value)) return value.map(cut);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, cut(item)]));
}
