import { isDeepStrictEqual } from "node:util";
import { CommandFailed } from "../terminal.ts";
import type { Connection } from "./connection.ts";

interface JsonConnectionOptions {
  readonly title: string;
  readonly path: string;
  /** Our settings by path. The first one identifies our settings. */
  readonly members: (base: string) => readonly (readonly [path: readonly string[], value: string])[];
  /** Members that override ours, with a note for each. */
  readonly overriding?: Readonly<Record<string, string>>;
}

export function jsonConnection({ title, path, members, overriding = {} }: JsonConnectionOptions): Connection {
  const [mark] = members("");
  const isConnected = (text: string) => {
    const value = objectOf(text, path);
    return mark !== undefined && valueAt(value, mark[0]) === mark[1];
  };
  return {
    title,
    path,
    isConnected,
    connected: (text, base) => {
      objectOf(text, path);
      let changed = text.trim() === "" ? "{}\n" : text;
      for (const [place, value] of members(base)) {
        if (valueAt(objectOf(changed, path), place) !== value) changed = withMember(changed, place, value);
      }
      const wanted = members(base).every(([place, value]) => valueAt(objectOf(changed, path), place) === value);
      if (!wanted) throw new CommandFailed(`${path} cannot be edited safely; edit it by hand`);
      return text.includes("\r\n") ? changed.replaceAll(/\r?\n/g, "\r\n") : changed;
    },
    disconnected: (text, before) => {
      if (!isConnected(text)) return text;
      const old = before === null ? {} : objectOf(before, path);
      let changed = text;
      for (const [place] of members("")) {
        const value = valueAt(old, place);
        changed = value === undefined ? withoutMember(changed, place) : withMember(changed, place, value);
        const [outer, inner] = place;
        if (outer !== undefined && inner !== undefined && valueAt(old, [outer]) === undefined) {
          const left = valueAt(objectOf(changed, path), [outer]);
          if (isDeepStrictEqual(left, {})) changed = withoutMember(changed, [outer]);
        }
      }
      const left = objectOf(changed, path);
      if (before !== null && isDeepStrictEqual(left, old)) return before;
      return before === null && isDeepStrictEqual(left, {}) ? null : changed;
    },
    notes: (text) => {
      const value = objectOf(text, path);
      return Object.entries(overriding)
        .filter(([name]) => valueAt(value, name.split(".")) !== undefined)
        .map(([name, note]) => `the file sets ${name}: ${note}`);
    },
  };
}

function objectOf(text: string, path: string): object {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CommandFailed(`${path} is not valid JSON; fix it first. Nothing was changed`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new CommandFailed(`${path} is not a JSON object; nothing was changed`);
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let here = value;
  for (const name of path) {
    if (typeof here !== "object" || here === null || Array.isArray(here) || !Object.hasOwn(here, name))
      return undefined;
    here = (here as Record<string, unknown>)[name];
  }
  return here;
}

/** Edits members of a JSON object and keeps everything else: white space, order, number formats, duplicate names. */

interface Member {
  readonly name: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/** Sets the value at `path`, creating objects as needed. */
function withMember(text: string, path: readonly string[], value: unknown): string {
  return setIn(text, text.indexOf("{"), path, value);
}

/** Removes the value at `path`, if any. */
function withoutMember(text: string, path: readonly string[]): string {
  let open = text.indexOf("{");
  for (const [depth, name] of path.entries()) {
    const { members, close } = membersAt(text, open);
    const at = members.findLastIndex((member) => member.name === name);
    const member = members[at];
    if (member === undefined) return text;
    if (depth < path.length - 1) {
      if (text[member.valueStart] !== "{") return text;
      open = member.valueStart;
      continue;
    }
    const [before, after] = [members[at - 1], members[at + 1]];
    if (before !== undefined) return text.slice(0, before.end) + text.slice(member.end);
    if (after !== undefined) return text.slice(0, member.start) + text.slice(after.start);
    return text.slice(0, open + 1) + text.slice(close);
  }
  return text;
}

function setIn(text: string, open: number, path: readonly string[], value: unknown): string {
  const [name = "", ...inner] = path;
  const { members, close } = membersAt(text, open);
  const known = members.findLast((member) => member.name === name);
  if (known !== undefined && inner.length > 0 && text[known.valueStart] === "{") {
    return setIn(text, known.valueStart, inner, value);
  }
  const written = inner.reduceRight<unknown>((nested, each) => ({ [each]: nested }), value);
  const last = members.at(-1);
  const unit = unitOf(text);
  if (known !== undefined) {
    const json = indented(written, unit, marginAt(text, known.start));
    return text.slice(0, known.valueStart) + json + text.slice(known.end);
  }
  if (last === undefined) {
    const margin = marginAt(text, open);
    const json = indented(written, unit, margin + unit);
    return `${text.slice(0, open)}{\n${margin}${unit}${JSON.stringify(name)}: ${json}\n${margin}}${text.slice(close + 1)}`;
  }
  const lead = /\s*$/.exec(text.slice(0, last.start))?.[0] ?? "";
  const json = indented(written, unit, lead.slice(lead.lastIndexOf("\n") + 1));
  return `${text.slice(0, last.end)},${lead === "" ? " " : lead}${JSON.stringify(name)}: ${json}${text.slice(last.end)}`;
}

function indented(value: unknown, unit: string, margin: string): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", `\n${margin}`);
}

/** Indentation of the first member; two spaces by default. */
function unitOf(text: string): string {
  return /^\s*\{\r?\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
}

/** Indentation of the line at `at`. */
function marginAt(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", at) + 1))?.[0] ?? "";
}

function membersAt(text: string, open: number): { readonly members: readonly Member[]; readonly close: number } {
  const members: Member[] = [];
  let at = open + 1;
  for (;;) {
    while (/[\s,]/.test(text[at] ?? "")) at++;
    if (text[at] !== '"') return { members, close: at };
    const start = at;
    at = endOfText(text, at);
    const name = JSON.parse(text.slice(start, at)) as string;
    while (/[\s:]/.test(text[at] ?? "")) at++;
    const valueStart = at;
    at = endOfValue(text, at);
    members.push({ name, start, valueStart, end: at });
  }
}

function endOfText(text: string, open: number): number {
  let at = open + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function endOfValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const letter = text[at] ?? "";
    if (letter === '"') at = endOfText(text, at);
    else {
      if (letter === "{" || letter === "[") depth++;
      else if (letter === "}" || letter === "]") depth--;
      at++;
    }
    // A number or word ends at the first other character.
  } while (depth > 0 || (/[\w.+-]/.test(text[at - 1] ?? "") && /[\w.+-]/.test(text[at] ?? "")));
  return at;
}
