import type { ReplyFacts } from "../dialect.ts";
import { errorText, invalidReply } from "../errors/upstream-errors.ts";
import type { Span } from "../json/cursor.ts";
import { valueAt } from "../json/scan.ts";
import { skimObject } from "../json/skim.ts";
import { arrayOf, parseFirst, textOf } from "../json/value.ts";
import { readServed } from "../usage/read-served.ts";
import { noServerTools, type ServerToolUse } from "../usage/reading.ts";
import { estimateTokens } from "./request.ts";
import { groundingIn, mayBeGrounded, readGeminiUsage } from "./usage.ts";

const replyMembers: ReadonlySet<string> = new Set([
  ...["candidates", "promptFeedback", "usageMetadata", "error", "responseId", "modelVersion"],
]);

/** A blocked prompt has no candidates. An error may be wrapped in an array. */
export function readGeminiReply(body: Uint8Array): ReplyFacts {
  const members = skimObject(body, 0, body.length, replyMembers);
  if (members === null) return readWrapped(body);
  const candidates = members.get("candidates");
  const usage = value(body, members.get("usageMetadata"));
  const error = members.get("error");
  if (error === undefined && candidates === undefined && usage === null && !members.has("promptFeedback")) {
    throw invalidReply(why);
  }
  return {
    usage: readGeminiUsage(
      usage,
      candidates === undefined ? noServerTools : groundingOf(body, candidates, members.get("modelVersion")),
    ),
    served: readServed({ modelVersion: value(body, members.get("modelVersion")) }, usage),
    errorMessage: error === undefined || candidates !== undefined ? null : errorText(value(body, error)),
    outputEstimate: candidates === undefined ? 0 : estimateTokens(body, candidates),
    id: textOf(value(body, members.get("responseId"))),
  };
}

/** Candidates are parsed only if they are grounded. */
function groundingOf(body: Uint8Array, candidates: Span, version: Span | undefined): ServerToolUse {
  const part = Buffer.from(body.buffer, body.byteOffset + candidates.start, candidates.end - candidates.start);
  if (!mayBeGrounded(part)) return noServerTools;
  return groundingIn(arrayOf(value(body, candidates)), value(body, version));
}

function readWrapped(body: Uint8Array): ReplyFacts {
  const error = parseFirst(body)?.["error"];
  if (error === undefined) throw invalidReply(why);
  return { usage: null, errorMessage: errorText(error), outputEstimate: 0, id: null };
}

function value(body: Uint8Array, span: Span | undefined): unknown {
  try {
    return valueAt(body, span);
  } catch (thrown) {
    throw invalidReply(why, thrown);
  }
}

const why = "is not a generateContent answer";
