import { bounds, type EndpointId, Redactor } from "#core/index.ts";
import type { CapturedBody, ContentBodies } from "#ports/index.ts";
import { chatAnswered, chatAsked, chatStreamed } from "./chat-content.ts";
import { readCutJson } from "./closed-json.ts";
import { type Asked, type Members, type Message, membersOf } from "./content-message.ts";
import { eventData, isStream } from "./event-data.ts";
import { messagesAnswered, messagesAsked, messagesStreamed } from "./messages-content.ts";
import { responsesAnswered, responsesAsked, responsesStreamed } from "./responses-content.ts";

/** What was said in a call, as JSON by the conventions' schemas; null: nothing was, or nobody can read it. */
export interface ReadContent {
  readonly system: string | null;
  readonly input: string | null;
  readonly output: string | null;
  /** Something of it was left out: it was long, or a file. */
  readonly truncated: boolean;
}

interface Dialect {
  readonly asked: (body: Members) => Asked;
  readonly answered: (body: Members) => readonly Message[];
  readonly streamed: (events: readonly unknown[], isCut: boolean) => readonly Message[];
}

const dialects: { readonly [Endpoint in EndpointId]?: Dialect } = {
  chat: { asked: chatAsked, answered: chatAnswered, streamed: chatStreamed },
  messages: { asked: messagesAsked, answered: messagesAnswered, streamed: messagesStreamed },
  responses: { asked: responsesAsked, answered: responsesAnswered, streamed: responsesStreamed },
};

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
  const output = answeredIn(dialect, response);
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

function answeredIn({ answered, streamed }: Dialect, body: CapturedBody | null): readonly Message[] {
  if (body === null) return [];
  return isStream(body.text) ? streamed(eventData(body.text), body.truncated) : answered(jsonIn(body));
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
