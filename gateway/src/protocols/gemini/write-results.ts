import type { ToolCallPart, ToolResultPart } from "#core/index.ts";
import type { DialectTraits, Warn } from "../codec.ts";
import type { JsonObject } from "../json-value.ts";
import { writeResponse } from "./function-response.ts";
import { writeToolName } from "./tool-name.ts";
import { writeMedia } from "./write-media.ts";

/**
 * The results of `calls` in the order of the calls, one each, and behind them the pictures they hold: a functionResponse
 * itself carries an object only. A call without a result gets an error; a result without a call becomes text.
 */
export function writeResults(
  calls: readonly ToolCallPart[],
  results: readonly ToolResultPart[],
  traits: DialectTraits,
  warn: Warn,
): JsonObject[] {
  const waiting = new Map<string, ToolResultPart[]>();
  for (const result of results) waiting.set(result.callId, [...(waiting.get(result.callId) ?? []), result]);
  const responses: JsonObject[] = [];
  const behind: JsonObject[] = [];
  for (const call of calls) {
    const result = waiting.get(call.id)?.shift();
    if (result === undefined) warn("a tool call without a result was answered with an error");
    responses.push({
      functionResponse: {
        ...idOf(call, traits),
        name: writeToolName(call.name),
        response: result === undefined ? noResult : writeResponse(textOf(result), result.isError),
      },
    });
    if (result !== undefined) behind.push(...mediaOf(result, call.name, traits, warn));
  }
  for (const result of [...waiting.values()].flat()) {
    warn("the result of a tool call that is not in the conversation was sent as user text");
    const name = result.name ?? "a tool";
    behind.push({ text: `Result of ${name}: ${textOf(result)}` }, ...mediaOf(result, name, traits, warn));
  }
  return [...responses, ...behind];
}

/** The id of a call, which its result has too. */
export function idOf({ id }: ToolCallPart, { noCallIds }: DialectTraits): JsonObject {
  return id === "" || noCallIds === true ? {} : { id };
}

const noResult: JsonObject = { error: "The call was not carried out." };

function textOf(result: ToolResultPart): string {
  return result.parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
}

function mediaOf(result: ToolResultPart, name: string, traits: DialectTraits, warn: Warn): JsonObject[] {
  const media = result.parts.flatMap((part) => (part.kind === "text" ? [] : [writeMedia(part, traits, warn)]));
  return media.length === 0 ? [] : [{ text: `Attached to the result of ${name}:` }, ...media];
}
