import { parse } from "@formatjs/icu-messageformat-parser";
import { type Plugin, parseSync } from "vite";

const textFiles = /\/src\/language\/(?:en|zh-CN)\/[\w-]+\.ts$/;
const parser = "@formatjs/icu-messageformat-parser";

/** Parses the texts of the console at build time, so that pages do not load the parser. */
export function readMessagesPlugin(): Plugin {
  return {
    name: "read-messages",
    apply: "build",
    config: () => ({
      resolve: { alias: [{ find: new RegExp(`^${parser}$`), replacement: `${parser}/no-parser.js` }] },
    }),
    transform: {
      filter: { id: textFiles },
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

/** Replaces texts with placeholders by their parsed messages. Other texts stay strings. */
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
