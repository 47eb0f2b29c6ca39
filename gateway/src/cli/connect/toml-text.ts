/** Reads a TOML text line by line, as far as it takes to find a table of one's own; the text is known to be TOML. */

interface TomlLine {
  readonly text: string;
  /** Of the table that the line stands in; empty: the root. */
  readonly table: readonly string[];
  /** It begins something: a header of a table, or a key. */
  readonly begins: "header" | "key" | null;
  /** Of a key at its beginning; empty otherwise. */
  readonly key: string;
}

/** Without the tables below `own`, and where the first of them stood; comments above the table behind them stay. */
export function withoutTables(
  lines: readonly TomlLine[],
  own: readonly string[],
): { readonly lines: readonly TomlLine[]; readonly at: number | null } {
  const kept: TomlLine[] = [];
  let at: number | null = null;
  lines.forEach((line, index) => {
    if (!isBelow(line.table, own) || (line.begins === null && isTrailing(lines, index))) kept.push(line);
    else at ??= kept.length;
  });
  return { lines: kept, at };
}

export function tomlLines(text: string): readonly TomlLine[] {
  const lines: TomlLine[] = [];
  let table: readonly string[] = [];
  let state: State = { quote: null, depth: 0 };
  for (const line of text.split("\n")) {
    const inside = state.quote !== null || state.depth > 0;
    const trimmed = line.trim();
    if (!inside && trimmed.startsWith("[")) {
      table = headerPath(trimmed);
      lines.push({ text: line, table, begins: "header", key: "" });
      continue;
    }
    const key = inside || trimmed === "" || trimmed.startsWith("#") ? "" : (/^["'\w.-]+/.exec(trimmed)?.[0] ?? "");
    lines.push({ text: line, table, begins: key === "" ? null : "key", key: key.replaceAll(/["']/g, "") });
    state = after(line, state);
  }
  return lines;
}

interface State {
  /** The mark that a text over several lines ends with. */
  readonly quote: '"""' | "'''" | null;
  readonly depth: number;
}

function after(line: string, before: State): State {
  let { quote, depth } = before;
  for (let at = 0; at < line.length; ) {
    const rest = line.slice(at);
    if (quote !== null) {
      if (quote === '"""' && rest.startsWith("\\")) at += 2;
      else if (rest.startsWith(quote)) {
        // Up to two more of the same mark belong to the text.
        at += /^["']+/.exec(rest)?.[0].length ?? quote.length;
        quote = null;
      } else at++;
    } else if (rest.startsWith('"""') || rest.startsWith("'''")) {
      quote = rest.startsWith('"""') ? '"""' : "'''";
      at += 3;
    } else if (rest.startsWith("#")) break;
    else {
      const text = /^"(?:[^"\\]|\\.)*"|^'[^']*'/.exec(rest)?.[0];
      if (text === undefined && /^[[{]/.test(rest)) depth++;
      else if (text === undefined && /^[\]}]/.test(rest)) depth--;
      at += text?.length ?? 1;
    }
  }
  return { quote, depth };
}

/** `[a . "b.c"]` names a and b.c. */
function headerPath(header: string): readonly string[] {
  const inside = header.replace(/^\[\[?/, "");
  const names: string[] = [];
  let rest = inside.trimStart();
  for (;;) {
    const name = /^"(?:[^"\\]|\\.)*"|^'[^']*'|^[\w-]+/.exec(rest)?.[0];
    if (name === undefined) return names;
    names.push(/^["']/.test(name) ? name.slice(1, -1) : name);
    rest = rest.slice(name.length).trimStart();
    if (!rest.startsWith(".")) return names;
    rest = rest.slice(1).trimStart();
  }
}

function isBelow(table: readonly string[], own: readonly string[]): boolean {
  return own.every((name, index) => table[index] === name);
}

/** Blank lines and comments between a table's last key and the next header. */
function isTrailing(lines: readonly TomlLine[], index: number): boolean {
  for (let at = index; at < lines.length; at++) {
    const { text, begins } = lines[at] as TomlLine;
    if (begins === "header") return true;
    if (text.trim() !== "" && !text.trim().startsWith("#")) return false;
  }
  return false;
}
