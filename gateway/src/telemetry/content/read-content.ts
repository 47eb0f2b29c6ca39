import { bounds, type EndpointId, Redactor } from "#core/index.ts";
import type { CapturedBody, ContentBodies } from "#ports/index.ts";
import { contentReaders, type Members, membersOf } from "./content-message.ts";

/** The messages of a call as JSON in the schemas of the conventions; null if there are none or they cannot be read. */
export interface ReadContent {
  readonly system: string | null;
  readonly input: string | null;
  readonly output: string | null;
  /** Some of it was omitted because it was long or a file. */
  readonly truncated: boolean;
}

/** Whether the messages of this endpoint can be read. */
export function hasContent(endpoint: EndpointId): boolean {
  return contentReaders[endpoint] !== undefined;
}

/**
 * Reads the messages of captured bodies. Credentials were removed from the bodies; texts are checked again, because streamed pieces and
 * escaped characters reveal some only when they are decoded.
 */
export function readContent({ endpoint, request, response, secrets }: ContentBodies): ReadContent | null {
  const readers = contentReaders[endpoint];
  if (readers === undefined) return null;
  const { system, input } = readers.request(jsonOf(request));
  const isStreamed = response !== null && isStream(response.text);
  const output = isStreamed
    ? readers.stream(eventData(response.text), response.truncated)
    : readers.answer(jsonOf(response));
  const redactor = new Redactor(secrets);
  const clean = (text: string): string => redactor.text(text);
  const lists = [system, input, output].map((list) => boundedJson(list, clean));
  const [systemJson = null, inputJson = null, outputJson = null] = lists.map(({ json }) => json);
  return {
    ...{ system: systemJson, input: inputJson, output: outputJson },
    truncated: isIncomplete(request) || isIncomplete(response) || lists.some(({ truncated }) => truncated),
  };
}

function jsonOf(body: CapturedBody | null): Members {
  if (body === null) return {};
  try {
    return membersOf(JSON.parse(body.text));
  } catch {
    return body.truncated ? membersOf(parseTruncatedJson(body.text)) : {};
  }
}

function isIncomplete(body: CapturedBody | null): boolean {
  return body !== null && (body.truncated || body.text.includes("more characters of base64]"));
}

/** A JSON array of as many leading items as fit; null if there are none. */
function boundedJson(list: readonly object[], clean: (text: string) => string) {
  const cleaned = (_name: string, value: unknown): unknown => (typeof value === "string" ? clean(value) : value);
  const items: string[] = [];
  let characters = 0;
  for (const item of list) {
    const text = JSON.stringify(item, cleaned);
    characters += text.length + 1;
    if (characters > bounds.contentCharactersMax) break;
    items.push(text);
  }
  return { json: items.length === 0 ? null : `[${items.join(",")}]`, truncated: items.length < list.length };
}

/** The data of server-sent events, parsed as JSON. */
function eventData(text: string): readonly Members[] {
  const events = text.replaceAll(/\r\n?/g, "\n").split("\n\n");
  return events.flatMap((event) => {
    const lines = event.split("\n").filter((line) => line.startsWith("data:"));
    try {
      return [membersOf(JSON.parse(lines.map((line) => line.slice(5).trimStart()).join("\n")))];
    } catch {
      // `[DONE]`, or an incomplete event.
      return [];
    }
  });
}

function isStream(text: string): boolean {
  return /^\s*(?:data|event|id|retry|):/.test(text);
}

/** Parses JSON that was cut off: closes what is open, and drops an incomplete last member if needed. null if that fails. */
function parseTruncatedJson(text: string): unknown {
  const end = scanJson(text);
  const before = text.slice(0, end.lastComma);
  for (const candidate of [text + end.closing, before + scanJson(before).closing]) {
    try {
      return JSON.parse(candidate);
    } catch {
      // The second candidate drops the last member.
    }
  }
  return null;
}

/** Returns what closes the open strings, arrays and objects at the end, and the position of the last comma (0 if none). */
function scanJson(text: string): { readonly closing: string; readonly lastComma: number } {
  const open: string[] = [];
  let inText = false;
  let lastComma = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (inText) {
      if (char === "\\") at++;
      else if (char === '"') inText = false;
    } else if (char === '"') inText = true;
    else if (char === "{") open.push("}");
    else if (char === "[") open.push("]");
    else if (char === "}" || char === "]") open.pop();
    else if (char === ",") lastComma = at;
  }
  return { closing: (inText ? '"' : "") + open.reverse().join(""), lastComma };
}
