import type { Failure } from "#core/index.ts";
import type { ReplyFacts } from "../dialect.ts";
import { reportedFailure } from "../errors/error-event.ts";
import { choiceError, errorText, upstreamFault } from "../errors/upstream-errors.ts";
import { asBuffer } from "../json/bytes.ts";
import { OPEN_OBJECT, type Span, skipSpace, valueEnd } from "../json/cursor.ts";
import { readScanned, readSpan, scanObject, valueAt } from "../json/scan.ts";
import { skimObject, skimValue } from "../json/skim.ts";
import { objectOf, parseUsualReply, textOf } from "../json/value.ts";
import { labelOf, readLabel } from "../request/members.ts";
import { readServed } from "../usage/read-served.ts";
import type { UsageConvention } from "../usage/reading.ts";
import { readChatUsage } from "./usage.ts";

const replyMembers: ReadonlySet<string> = new Set(["usage", "model", "service_tier", "error", "choices", "id"]);

export function readChatReply(body: Uint8Array, convention?: UsageConvention): ReplyFacts {
  return readUsualReply(body, convention) ?? readAnyReply(body, convention);
}

/** null: the reply has to be scanned. */
function readUsualReply(body: Uint8Array, convention: UsageConvention | undefined): ReplyFacts | null {
  const bytes = asBuffer(body);
  if (bytes.includes(errorMark) || bytes.includes(audioMark)) return null;
  const reply = parseUsualReply(bytes);
  if (reply === null || !Array.isArray(reply["choices"])) return null;
  const reported = reply["usage"];
  const usage = readChatUsage(reported, convention);
  if (usage === null || usage.missingSide !== undefined) return null;
  return {
    usage,
    served: readServed({ model: reply["model"], service_tier: reply["service_tier"] }, reported),
    errorMessage: null,
    outputEstimate: 0,
    id: labelOf(reply["id"]),
    createdIds: noIds,
  };
}

function readAnyReply(body: Uint8Array, convention: UsageConvention | undefined): ReplyFacts {
  try {
    const members = scanObject(body, replyMembers);
    const usage = valueAt(body, members.get("usage"));
    const error = members.get("error");
    const choices = members.get("choices");
    const isBare = choices === undefined || isNull(body, choices);
    const errorValue = isBare ? valueAt(body, error) : null;
    const errorMessage = errorValue === null ? embeddedErrorMessage(body, choices) : errorText(errorValue);
    return {
      usage: readChatUsage(usage, convention),
      served: readServed(
        { model: labelAt(body, members.get("model")), service_tier: labelAt(body, members.get("service_tier")) },
        usage,
      ),
      errorMessage,
      outputEstimate: choices === undefined || errorMessage !== null ? 0 : Math.ceil((choices.end - choices.start) / 4),
      id: readLabel(body, members.get("id")),
      createdIds: choices === undefined ? [] : audioIdsIn(body, choices.start, choices.end),
    };
  } catch (thrown) {
    throw upstreamFault("The upstream's answer is not valid JSON.", thrown);
  }
}

/** Parses only answers with a mark: quotes within text are escaped. */
function embeddedErrorMessage(body: Uint8Array, choices: Span | undefined): string | null {
  const [mark, from, to] =
    choices === undefined || isNull(body, choices)
      ? ([baseMark, 0, body.length] as const)
      : ([errorMark, choices.start, choices.end] as const);
  const at = asBuffer(body).indexOf(mark, from);
  if (at === -1 || at >= to) return null;
  const error = choiceError(objectOf(readSpan(body, { start: 0, end: body.length })));
  return error === null ? null : errorText(error);
}

function isNull(body: Uint8Array, { start, end }: Span): boolean {
  return end - start === 4 && body[start] === 0x6e;
}

const baseMark = Buffer.from('"base_resp"');
const errorMark = Buffer.from('"error"');

function labelAt(body: Uint8Array, span: Span | undefined): unknown {
  return span === undefined ? null : readScanned(body, span);
}

export function chatFailure(error: unknown): Failure {
  return reportedFailure(error, errorText(error));
}

/** The id of the audio in an answer or chunk, which a later message may name (`audio.id`). */
export function audioIdsIn(bytes: Uint8Array, from = 0, to = bytes.length): readonly string[] {
  const text = asBuffer(bytes);
  const mark = text.indexOf(audioMark, from);
  if (mark === -1 || mark >= to) return noIds;
  const start = skipSpace(text, mark + audioMark.length);
  if (text[start] !== OPEN_OBJECT) return noIds;
  const members = skimObject(text, start, valueEnd(text, start), idOnly);
  const id = textOf(skimValue(text, members?.get("id")));
  return id === null ? noIds : [id];
}

const audioMark = Buffer.from('"audio":');
const idOnly: ReadonlySet<string> = new Set(["id"]);
const noIds: readonly string[] = [];
