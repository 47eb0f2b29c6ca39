import { Failure, noUsage } from "#core/index.ts";
import type { ReplyFacts, StreamTap, UsageReading } from "../dialect.ts";
import { errorText, invalidReply } from "../errors/upstream-errors.ts";
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  closingQuote,
  isSpace,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  type Span,
  skipSpace,
} from "../json/cursor.ts";
import { skimObject, skimValue } from "../json/skim.ts";
import { countOf, isObject } from "../json/value.ts";
import type { OpenFacts, RequestBody } from "../request/request-body.ts";
import { readServed } from "../usage/read-served.ts";
import { rawUsage } from "../usage/reading.ts";

/** Shared parts of native JSON calls. */

/** Facts of a call that generates no tokens. */
export function nativeFacts(body: RequestBody, inputEstimate: number, model?: string): OpenFacts {
  const facts = body.facts(inputEstimate, model);
  facts.outputTokensMax = 0;
  facts.estimatedUse = noEstimatedUse;
  return facts;
}

const noEstimatedUse = Object.freeze({ likely: {}, most: {} });

/** Reads usage from a whole answer. `answerMembers`: one of these is in every answer; without any, `error` counts. */
export function replyReader(
  answerMembers: readonly string[],
  usageMembers: readonly string[],
  usageOf: (member: (name: string) => unknown) => Pick<UsageReading, "usage"> | null,
): (body: Uint8Array) => ReplyFacts {
  const wanted: ReadonlySet<string> = new Set([...answerMembers, ...usageMembers, "error", "model"]);
  return (body) => {
    const members = skimObject(body, 0, body.length, wanted);
    if (members === null) throw invalidReply("is not a JSON object");
    const member = (name: string): unknown => skimValue(body, members.get(name));
    const error = member("error");
    const reading = usageOf(member);
    return {
      usage: reading === null ? null : { ...reading, raw: rawUsageIn(usageMembers, member) },
      served: readServed({ model: member("model") }, member("usage")),
      errorMessage: error !== null && !answerMembers.some((name) => members.has(name)) ? errorText(error) : null,
      outputEstimate: 0,
      id: null,
    };
  };
}

/** The reported member, or all of several. */
function rawUsageIn(usageIn: readonly string[], member: (name: string) => unknown): string {
  const reported = usageIn.flatMap((name) => {
    const value = member(name);
    return value === null ? [] : [[name, value] as const];
  });
  const [only] = reported;
  return rawUsage(reported.length === 1 && only !== undefined ? only[1] : Object.fromEntries(reported));
}

/** Only an upstream that misunderstood the call would stream. */
export function refuseStream(what: string): () => StreamTap {
  return () => {
    throw new Failure("upstream_error", `The upstream streams ${what}, which was not requested.`, { retry: "other" });
  };
}

/** Estimates tokens of a string, strings, tokens or arrays of tokens. Four bytes of text are one token. */
export function estimatePrompt(body: Uint8Array, span: Span | undefined): number {
  if (span === undefined) return 0;
  if (body[span.start] === QUOTE) return Math.ceil((span.end - span.start - 2) / 4);
  if (!holdsNumbers(body, span)) return Math.ceil((span.end - span.start) / 4);
  let numbers = 1;
  for (let at = span.start; at < span.end; at++) if (body[at] === COMMA) numbers++;
  return numbers;
}

/** Counts the texts in the same. */
export function countPrompts(body: Uint8Array, span: Span | undefined): number {
  if (span === undefined) return 0;
  if (body[span.start] === QUOTE) return 1;
  const isOne = holdsNumbers(body, span) && body[skipSpace(body, span.start + 1)] !== OPEN_ARRAY;
  return isOne ? 1 : itemCount(body, span);
}

function itemCount(body: Uint8Array, array: Span): number {
  let count = 1;
  forEachComma(body, array, () => count++);
  return count;
}

/** Calls `between` with each comma at the array's own level. */
export function forEachComma(body: Uint8Array, array: Span, between: (at: number) => void): void {
  let depth = 0;
  for (let at = array.start; at < array.end; at++) {
    const byte = body[at];
    if (byte === QUOTE) at = closingQuote(body, at + 1, array.end);
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth++;
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--;
    else if (byte === COMMA && depth === 1) between(at);
  }
}

function holdsNumbers(body: Uint8Array, items: Span): boolean {
  let at = items.start;
  while (at < items.end && (body[at] === OPEN_ARRAY || isSpace(body[at]))) at++;
  const first = body[at] ?? 0;
  return first >= 0x30 && first <= 0x39;
}

/** Some vendors report only one of `prompt_tokens` and `total_tokens`. Null without either. */
export function promptUsage(reported: unknown): Pick<UsageReading, "usage"> | null {
  if (!isObject(reported)) return null;
  const input = countOf(reported["prompt_tokens"]) ?? countOf(reported["total_tokens"]);
  return input === null ? null : { usage: { ...noUsage, inputUncached: input } };
}
