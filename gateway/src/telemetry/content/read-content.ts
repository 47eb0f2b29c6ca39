import { bounds, type EndpointId, Redactor } from "#core/index.ts";
import type { CapturedBody, ContentBodies } from "#ports/index.ts";
import { dialects, type Members, membersOf } from "./content-message.ts";

/** What was said in a call, as JSON by the conventions' schemas; null: nothing was, or nobody can read it. */
export interface ReadContent {
  readonly system: string | null;
  readonly input: string | null;
  readonly output: string | null;
  /** Something of it was left out: it was long, or a file. */
  readonly truncated: boolean;
}

/** Whether messages of calls of this endpoint are read at all. */
export function hasContent(endpoint: EndpointId): boolean {
  return dialects[endpoint] !== undefined;
}

/**
 * The messages of captured bodies. Credentials were taken out of these, and are looked for once more: an answer that was streamed in
 * pieces, and a text with escaped letters, show what they hold only when they are read.
 */
export function readContent({ endpoint, request, response, secrets }: ContentBodies): ReadContent | null {
  const dialect = dialects[endpoint];
  if (dialect === undefined) return null;
  const { system, input } = dialect.asked(jsonIn(request));
  const isStreamed = response !== null && isStream(response.text);
  const output = isStreamed
    ? dialect.streamed(eventData(response.text), response.truncated)
    : dialect.answered(jsonIn(response));
  const redactor = new Redactor(secrets);
  const clean = (text: string): string => redactor.text(text);
  const written = [system, input, output].map((list) => jsonOf(list, clean));
  const [ofSystem, ofInput, ofOutput] = written.map(({ json }) => json);
  return {
    system: ofSystem ?? null,
    input: ofInput ?? null,
    output: ofOutput ?? null,
    truncated: isCut(request) || isCut(response) || written.some(({ truncated }) => truncated),
  };
}

function jsonIn(body: CapturedBody | null): Members {
  if (body === null) return {};
  try {
    return membersOf(JSON.parse(body.text));
  } catch {
    return body.truncated ? membersOf(readCutJson(body.text)) : {};
  }
}

function isCut(body: CapturedBody | null): boolean {
  return body !== null && (body.truncated || body.text.includes("more characters of base64]"));
}

/** As many members as there is room for, from the first. */
function jsonOf(list: readonly object[], clean: (text: string) => string): { json: string | null; truncated: boolean } {
  const cleaned = (_name: string, value: unknown): unknown => (typeof value === "string" ? clean(value) : value);
  let json = "";
  for (const one of list) {
    const text = JSON.stringify(one, cleaned);
    if (json.length + text.length > bounds.contentCharactersMax) {
      return { json: json === "" ? null : `[${json}]`, truncated: true };
    }
    json += json === "" ? text : `,${text}`;
  }
  return { json: json === "" ? null : `[${json}]`, truncated: false };
}

/** The data of server-sent events that are whole and JSON, in their order. */
function eventData(text: string): readonly Members[] {
  const events = text.replaceAll(/\r\n?/g, "\n").split("\n\n");
  return events.flatMap((event) => {
    const lines = event.split("\n").filter((line) => line.startsWith("data:"));
    try {
      return [membersOf(JSON.parse(lines.map((line) => line.slice(5).trimStart()).join("\n")))];
    } catch {
      // `[DONE]`, or an event that was cut.
      return [];
    }
  });
}

/** What was answered, whole or as a stream. */
function isStream(text: string): boolean {
  return /^\s*(?:data|event|id|retry|):/.test(text);
}

/**
 * JSON that was cut off, closed where it ends: what is open of texts, lists and objects is ended, and a member that has only begun is
 * left out. null: it is no JSON even so.
 */
function readCutJson(text: string): unknown {
  const whole = openAt(text);
  const before = text.slice(0, whole.lastComma);
  for (const candidate of [text + whole.closing, before + openAt(before).closing]) {
    try {
      return JSON.parse(candidate);
    } catch {
      // The next one leaves more of it out.
    }
  }
  return null;
}

interface Open {
  /** Ends what is open at the end of the text. */
  readonly closing: string;
  /** Where a member began that may not be whole; 0: there is none. */
  readonly lastComma: number;
}

function openAt(text: string): Open {
  const open: string[] = [];
  let inText = false;
  let lastComma = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (inText) {
      if (letter === "\\") at++;
      else if (letter === '"') inText = false;
    } else if (letter === '"') inText = true;
    else if (letter === "{") open.push("}");
    else if (letter === "[") open.push("]");
    else if (letter === "}" || letter === "]") open.pop();
    else if (letter === ",") lastComma = at;
  }
  return { closing: (inText ? '"' : "") + open.reverse().join(""), lastComma };
}
