import type { ToolResultPart, TurnMessage, TurnPart } from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import { writeToolName } from "../gemini/encodings.ts";
import type { JsonObject } from "../json/value.ts";
import { alternateTurns, type CallAnswer, resultText } from "../turn/alternation.ts";
import { canOpen } from "../turn/seal-text.ts";
import { argumentsObject } from "../turn/tool-calls.ts";
import { writeContent } from "./contents.ts";

/** A content is joined with others in one step. A step is complete. */
type Piece = { readonly content: JsonObject } | { readonly step: JsonObject };

/** Writes alternating sides, the user first. Calls are followed by their results. */
export function writeSteps(messages: readonly TurnMessage[], target: TurnTarget, warn: Warn): JsonObject[] {
  const sides = alternateTurns<Piece>(messages, (part) => writePart(part, target, warn), { answersLast: false, warn });
  return sides.flatMap(({ role, answers, pieces }) => [
    ...answers.map((answer) => writeResult(answer, target, warn)),
    ...joined(pieces, role === "assistant" ? "model_output" : "user_input"),
  ]);
}

function joined(pieces: readonly Piece[], type: string): JsonObject[] {
  const steps: JsonObject[] = [];
  let content: JsonObject[] | null = null;
  for (const piece of pieces) {
    if ("step" in piece) {
      content = null;
      steps.push(piece.step);
    } else if (content !== null) content.push(piece.content);
    else {
      content = [piece.content];
      steps.push({ type, content });
    }
  }
  return steps;
}

function writePart(part: Exclude<TurnPart, ToolResultPart>, target: TurnTarget, warn: Warn): Piece[] {
  switch (part.kind) {
    case "refusal":
      return part.text === "" ? [] : [{ content: { type: "text", text: part.text } }];
    case "tool-call": {
      const { id, name, argumentsText } = part;
      return [
        {
          step: {
            type: "function_call",
            id,
            name: writeToolName(name),
            arguments: argumentsObject(argumentsText, warn),
          },
        },
      ];
    }
    case "reasoning": {
      // Thoughts are only sent back to their own producer.
      const { seal, text } = part;
      if (seal === null || !canOpen(seal, "gemini-interactions", target.account)) {
        warn("reasoning of another upstream was dropped");
        return [];
      }
      const summary = text === "" ? {} : { summary: [{ type: "text", text }] };
      return [{ step: { type: "thought", signature: seal.data, ...summary } }];
    }
    default:
      return writeContent(part, target.traits, warn).map((content) => ({ content }));
  }
}

/** A result of text alone is a text; one with media is a list of contents. */
function writeResult([{ id, name }, result]: CallAnswer, target: TurnTarget, warn: Warn): JsonObject {
  const head = { type: "function_result", call_id: id, name: writeToolName(name) };
  if (result === undefined) return { ...head, result: "The call was not carried out.", is_error: true };
  const error = result.isError ? { is_error: true } : {};
  if (result.parts.every((part) => part.kind === "text")) return { ...head, result: resultText(result), ...error };
  return { ...head, result: result.parts.flatMap((part) => writeContent(part, target.traits, warn)), ...error };
}
