import type { AnswerFormat, Turn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import type { JsonObject } from "../json-value.ts";
import { withProperties } from "../object-schema.ts";

export interface WrittenFormat {
  readonly responseFormat: JsonObject | undefined;
  /** What must be said in the instructions for it to work. */
  readonly instruction: string | null;
}

/** `response_format`. JSON mode is refused unless the prompt speaks of JSON, so it is made to where it does not. */
export function writeFormat(turn: Turn, schemaUnderstood: boolean, warn: Warn): WrittenFormat {
  const { format } = turn;
  if (format === null || format.kind === "text") return { responseFormat: undefined, instruction: null };
  if (format.kind === "schema" && schemaUnderstood) return { responseFormat: schemaFormat(format), instruction: null };
  const responseFormat = { type: "json_object" };
  if (format.kind === "schema") {
    warn("a schema for the answer is not understood by the upstream: JSON was asked for, and the schema in words");
    const instruction = `Answer with one JSON object that fits this JSON Schema:\n${JSON.stringify(format.schema)}`;
    return { responseFormat, instruction };
  }
  if (speaksOfJson(turn)) return { responseFormat, instruction: null };
  warn("the upstream wants JSON to be named in the prompt: a sentence was added to the instructions");
  return { responseFormat, instruction: "Answer with one JSON object." };
}

function schemaFormat(format: AnswerFormat & { readonly kind: "schema" }): JsonObject {
  return {
    type: "json_schema",
    json_schema: {
      name: schemaName(format.name),
      ...(format.description === null ? {} : { description: format.description }),
      schema: withProperties(format.schema, format.strict === true),
      ...(format.strict === null ? {} : { strict: format.strict }),
    },
  };
}

function schemaName(name: string | null): string {
  const plain = (name ?? "").replace(/[^\w-]/g, "_").slice(0, 64);
  return plain === "" ? "answer" : plain;
}

function speaksOfJson(turn: Turn): boolean {
  const named = (part: { readonly kind: string; readonly text?: string }): boolean =>
    part.kind === "text" && part.text !== undefined && /json/i.test(part.text);
  return turn.system.some(named) || turn.messages.some((message) => message.parts.some(named));
}
