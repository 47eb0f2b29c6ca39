import { isDeepStrictEqual } from "node:util";
import { CommandFailed } from "../command-failed.ts";
import type { Connection } from "./connection.ts";
import { withMember, withoutMember } from "./json-text.ts";

interface JsonConnectionOptions {
  readonly title: string;
  readonly path: string;
  /** What is written, by its place. The first of them is what Sluice's own file is known by. */
  readonly members: (base: string) => readonly (readonly [path: readonly string[], value: string])[];
  /** Members that go before ours, and what is said of each. */
  readonly stronger?: Readonly<Record<string, string>>;
}

export function jsonConnection({ title, path, members, stronger = {} }: JsonConnectionOptions): Connection {
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
      if (!wanted)
        throw new CommandFailed(`${path} is written in a way that cannot be changed safely; change it by hand`);
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
    remarks: (text) => {
      const value = objectOf(text, path);
      return Object.entries(stronger)
        .filter(([name]) => valueAt(value, name.split(".")) !== undefined)
        .map(([name, said]) => `${name} stands in the file: ${said}`);
    },
  };
}

function objectOf(text: string, path: string): object {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CommandFailed(`${path} is not JSON; mend it first, nothing is changed`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new CommandFailed(`${path} is not a JSON object; nothing is changed`);
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
