import { isDeepStrictEqual } from "node:util";
import { codexProvider, codexProviderLines } from "@sluice/contract/words";
import { CommandFailed } from "../terminal.ts";
import type { Connection } from "./connection.ts";

const own = ["model_providers", codexProvider] as const;
const key = "model_provider";

/** Edits Codex's config file: our two tables and the name of the provider. Everything else stays, including comments. */
export function codexConnection(path: string): Connection {
  const isConnected = (text: string) => ownTable(tomlOf(text, path)) !== undefined;
  return {
    title: "Codex",
    path,
    isConnected,
    connected: (text, base) => {
      const before = tomlOf(text, path);
      const { lines, at, end } = withoutTables(text);
      const texts = lines.map((line) => line.text);
      const block = codexProviderLines(base);
      if (at === null) {
        while (texts.at(-1)?.trim() === "") texts.pop();
        texts.push(...(texts.length === 0 ? [] : [""]), ...block, "");
      } else {
        const behind = texts.slice(at);
        texts.splice(at, behind.length, ...block, ...(behind[0]?.trim() === "" ? [] : [""]), ...behind);
      }
      const changed = withKey(texts.join("\n"), JSON.stringify(codexProvider)).replaceAll("\n", end);
      return checked(changed, path, (after) => isDeepStrictEqual(rest(after), rest(before)) && isOurs(after));
    },
    disconnected: (text, before) => {
      if (!isConnected(text)) return text;
      const now = tomlOf(text, path);
      const old = before === null ? {} : tomlOf(before, path);
      const { lines, end } = withoutTables(text);
      let changed = lines.map((line) => line.text).join("\n");
      if (now[key] === codexProvider) {
        const provider = old[key];
        changed = withKey(
          changed,
          typeof provider === "string" && provider !== codexProvider ? JSON.stringify(provider) : null,
        );
      }
      const left = checked(
        changed.replaceAll("\n", end),
        path,
        (after) => ownTable(after) === undefined && isDeepStrictEqual(rest(after), rest(now)),
      );
      if (before !== null && isDeepStrictEqual(tomlOf(left, path), old)) return before;
      return before === null && left.trim() === "" ? null : left;
    },
    notes: (text) => {
      const { model, profile } = tomlOf(text, path);
      return [
        ...(typeof model === "string" ? [] : ['Set a model of the gateway in it: model = "…"']),
        ...(typeof profile === "string" ? ["Its profile has a model_provider, which overrides this one"] : []),
      ];
    },
  };
}

/** Sets the provider's name at the top; null removes it. A trailing comment stays. */
function withKey(text: string, value: string | null): string {
  const lines = tomlLines(text);
  const texts = lines.map((line) => line.text);
  const root = lines.findIndex(({ begins }) => begins === "header");
  const roots = root === -1 ? lines : lines.slice(0, root);
  const known = roots.findIndex((line) => line.begins === "key" && line.key === key);
  if (known !== -1) {
    const comment = /^[^"'#]*(?:"[^"]*"|'[^']*')(\s*#.*)$/.exec(texts[known] ?? "")?.[1] ?? "";
    texts.splice(known, 1, ...(value === null ? [] : [`${key} = ${value}${comment}`]));
  } else if (value !== null) {
    // After a comment at the top of the file, before the first key or table.
    const first = lines.findIndex(({ begins }) => begins !== null);
    texts.splice(first === -1 ? texts.length : first, 0, `${key} = ${value}`, ...(first === root ? [""] : []));
  }
  return texts.join("\n");
}

type Toml = Readonly<Record<string, unknown>>;

function tomlOf(text: string, path: string): Toml {
  try {
    return Bun.TOML.parse(text) as Toml;
  } catch {
    throw new CommandFailed(`${path} is not valid TOML; fix it first. Nothing was changed`);
  }
}

/** Parses the result again, so that unexpected formatting cannot damage the file. */
function checked(text: string, path: string, holds: (value: Toml) => boolean): string {
  let value: Toml | null = null;
  try {
    value = Bun.TOML.parse(text) as Toml;
  } catch {
    // Reported below.
  }
  if (value !== null && holds(value)) return text;
  throw new CommandFailed(`${path} cannot be edited safely; edit model_providers.sluice by hand`);
}

function ownTable(value: Toml): unknown {
  const providers = value["model_providers"];
  return typeof providers === "object" && providers !== null ? (providers as Toml)[codexProvider] : undefined;
}

function isOurs(value: Toml): boolean {
  return value[key] === codexProvider && typeof ownTable(value) === "object";
}

/** Everything that is not ours. */
function rest(value: Toml): Toml {
  const { [key]: _provider, model_providers: providers = {}, ...others } = value;
  const { [codexProvider]: _own, ...left } = providers as Toml;
  return { ...others, providers: left };
}

/** A line of a valid TOML text, parsed only as far as needed to find our tables. */

interface TomlLine {
  readonly text: string;
  /** Name of the table that contains the line; empty for the root. */
  readonly table: readonly string[];
  readonly begins: "header" | "key" | null;
  /** The name of the key; "" for a header or another line. */
  readonly key: string;
}

/** Removes our tables. Also returns where the first one was, and the line ending. Comments before the next table stay. */
function withoutTables(text: string) {
  const lines = tomlLines(text.replaceAll("\r\n", "\n"));
  const kept: TomlLine[] = [];
  let at: number | null = null;
  lines.forEach((line, index) => {
    const isOwn = own.every((name, depth) => line.table[depth] === name);
    if (!isOwn || (line.begins === null && isTrailing(lines, index))) kept.push(line);
    else at ??= kept.length;
  });
  return { lines: kept, at: at as number | null, end: text.includes("\r\n") ? "\r\n" : "\n" };
}

function tomlLines(text: string): readonly TomlLine[] {
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
  /** The delimiter of a multi-line string. */
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
        // Up to two more quotes belong to the string.
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

/** Blank lines and comments between the last key of a table and the next header. */
function isTrailing(lines: readonly TomlLine[], index: number): boolean {
  for (let at = index; at < lines.length; at++) {
    const { text, begins } = lines[at] as TomlLine;
    if (begins === "header") return true;
    if (text.trim() !== "" && !text.trim().startsWith("#")) return false;
  }
  return false;
}
