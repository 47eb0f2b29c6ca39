import { readFile, stat } from "node:fs/promises";
import type { Loose } from "#importers/index.ts";
import { environmentOf } from "../open.ts";
import { CommandFailed, type Terminal } from "../terminal.ts";

/** A configuration or an export of another gateway. */
const sourceBytesMax = 64 * 1_048_576;
const fetchMs = 60_000;

/** Reads an object of YAML or JSON from a file or an https address. `bearer`: sent to the address. Throws CommandFailed. */
export async function readObject(from: string, terminal: Terminal, bearer: string | null = null): Promise<Loose> {
  const shown = shownSource(from);
  const bytes = /^[a-z][a-z0-9+.-]*:\/\//i.test(from) ? await fetched(from, terminal, bearer) : await fileBytes(from);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new CommandFailed(`${shown} is not UTF-8 text`);
  }
  const value = await parsed(text, shown);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Loose;
  throw new CommandFailed(`${shown} must contain an object`);
}

function shownSource(from: string): string {
  const url = URL.parse(from);
  return url === null || !url.protocol.startsWith("http") ? from : `${url.origin}${url.pathname}`;
}

async function fileBytes(path: string): Promise<Uint8Array> {
  const size = await stat(path).then(
    (found) => (found.isFile() ? found.size : null),
    () => null,
  );
  if (size === null) throw new CommandFailed(`file ${path} not found`);
  if (size > sourceBytesMax) throw new CommandFailed(`${path} has more than ${sourceBytesMax} bytes`);
  return await readFile(path);
}

async function fetched(url: string, terminal: Terminal, bearer: string | null): Promise<Uint8Array> {
  if (!url.startsWith("https://")) throw new CommandFailed("only https addresses and files are supported");
  const environment = await environmentOf(terminal.variables);
  const [{ networkOf }, { createTransport }, { systemClock }] = await Promise.all([
    import("#main.ts"),
    import("#upstream/index.ts"),
    import("#system/index.ts"),
  ]);
  const transport = createTransport({ clock: systemClock, ...networkOf(environment) });
  const signal = AbortSignal.timeout(fetchMs);
  const headers = { accept: "application/json", ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }) };
  const request = { method: "GET", url, headers, body: null, allowPrivateNetwork: false } as const;
  const times = { connectMs: 10_000, headersMs: 30_000, totalMs: fetchMs, ownConnection: true } as const;
  const answer = await transport.send({ ...request, ...times }, signal);
  if (answer.status !== 200) {
    answer.body.cancel();
    throw new CommandFailed(`${shownSource(url)} answered with status ${answer.status}`);
  }
  return await answer.body.readAll(sourceBytesMax, "total", fetchMs);
}

/** JSON is YAML too, but its parser is faster. The message of a wrong text never quotes it, because it may hold secrets. */
async function parsed(text: string, shown: string): Promise<unknown> {
  if (/^\s*[[{]/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // A YAML file in flow style.
    }
  }
  const { parseDocument } = await import("yaml");
  try {
    const document = parseDocument(text, { logLevel: "error", prettyErrors: true, stringKeys: true });
    const [error] = document.errors;
    if (error !== undefined) {
      const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
      throw new CommandFailed(`${shown} is not valid YAML: line ${line}, column ${col} (${error.code})`);
    }
    return document.toJS({ maxAliasCount: 100 });
  } catch (thrown) {
    if (thrown instanceof CommandFailed) throw thrown;
    // Too many aliases, or nested too deeply.
    throw new CommandFailed(`${shown} cannot be read: its YAML is nested too deeply or has too many aliases`);
  }
}
