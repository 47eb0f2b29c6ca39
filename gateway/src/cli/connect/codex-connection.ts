import { isDeepStrictEqual } from "node:util";
import { codexProvider, codexProviderLines } from "@sluice/contract/words";
import { CommandFailed } from "../command-failed.ts";
import type { Connection } from "./connection.ts";
import { tomlLines, withoutTables } from "./toml-text.ts";

const own = ["model_providers", codexProvider] as const;
const key = "model_provider";

/** Codex's config file: two tables of ours, and the name of the provider. Everything else of it stays, comments too. */
export function codexConnection(path: string): Connection {
  const isConnected = (text: string) => ownTable(tomlOf(text, path)) !== undefined;
  return {
    title: "Codex",
    path,
    isConnected,
    connected: (text, base) => {
      const before = tomlOf(text, path);
      const end = text.includes("\r\n") ? "\r\n" : "\n";
      const { lines, at } = withoutTables(tomlLines(text.replaceAll("\r\n", "\n")), own);
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
      const end = text.includes("\r\n") ? "\r\n" : "\n";
      const { lines } = withoutTables(tomlLines(text.replaceAll("\r\n", "\n")), own);
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
    remarks: (text) => {
      const { model, profile } = tomlOf(text, path);
      return [
        ...(typeof model === "string" ? [] : ['Name a model of the gateway\'s in it: model = "…"']),
        ...(typeof profile === "string"
          ? ["A profile is chosen in it, whose model_provider goes before this one"]
          : []),
      ];
    },
  };
}

/** Sets the provider's name among the keys before the first table; null takes it out. A comment behind it stays. */
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
    // Behind the comment that a file may begin with, before the first key or table.
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
    throw new CommandFailed(`${path} is not TOML; mend it first, nothing is changed`);
  }
}

/** What was changed is read once more: a way of writing that was not foreseen must not harm what is there. */
function checked(text: string, path: string, holds: (value: Toml) => boolean): string {
  let value: Toml | null = null;
  try {
    value = Bun.TOML.parse(text) as Toml;
  } catch {
    // Said below.
  }
  if (value !== null && holds(value)) return text;
  throw new CommandFailed(
    `${path} is written in a way that cannot be changed safely; change model_providers.sluice by hand`,
  );
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
