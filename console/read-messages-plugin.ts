import { parse } from "@formatjs/icu-messageformat-parser";
import { type Plugin, parseSync } from "vite";

const catalogue = /\/src\/language\/(?:en|zh-CN)\/[\w-]+\.ts$/;
const parser = "@formatjs/icu-messageformat-parser";

/** Reads the messages of the catalogue when the console is built, so that no page brings the parser along. */
export function readMessagesPlugin(): Plugin {
  return {
    name: "read-messages",
    apply: "build",
    config: () => ({
      resolve: { alias: [{ find: new RegExp(`^${parser}$`), replacement: `${parser}/no-parser.js` }] },
    }),
    transform: {
      filter: { id: catalogue },
      handler: (code, id) => ({ code: withMessagesRead(id, code), map: null }),
    },
  };
}

interface Literal {
  readonly type: string;
  readonly value?: unknown;
  readonly start: number;
  readonly end: number;
}

/** A text that leaves something open stands there as its parts; all others as they are. */
function withMessagesRead(file: string, code: string): string {
  const found: Literal[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const each of node) visit(each);
    if (node === null || typeof node !== "object" || Array.isArray(node)) return;
    const { type } = node as Partial<Literal>;
    if (type === "ImportDeclaration") return;
    if (type === "Literal") found.push(node as Literal);
    for (const inner of Object.values(node)) if (typeof inner === "object") visit(inner);
  };
  visit(parseSync(file, code).program);
  let read = code;
  for (const { value, start, end } of found.toSorted((one, other) => other.start - one.start)) {
    if (typeof value !== "string" || !/[{<']/.test(value)) continue;
    read = `${read.slice(0, start)}${JSON.stringify(parse(value))}${read.slice(end)}`;
  }
  return read;
}
