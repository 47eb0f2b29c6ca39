import type { Turn, TurnTool } from "#core/index.ts";
import { parseObject } from "../json/value.ts";

/**
 * OpenAI's custom tools take free text in place of JSON arguments. Elsewhere they are ordinary tools whose one
 * argument is that text. The schema below is one value, shared by all of them: that is how they are known again.
 */
const freeText: NonNullable<TurnTool["parameters"]> = Object.freeze({
  type: "object",
  properties: { input: { type: "string", description: "The tool's whole input, as plain text." } },
  required: ["input"],
  additionalProperties: false,
});

export function customTool(name: string, description: string | null): TurnTool {
  return { name, description, parameters: freeText, strict: null, cache: null };
}

/** The names of a turn's custom tools. */
export function customNames(turn: Pick<Turn, "tools">): ReadonlySet<string> {
  return new Set(turn.tools.filter((tool) => tool.parameters === freeText).map((tool) => tool.name));
}

export function isCustom(tool: TurnTool): boolean {
  return tool.parameters === freeText;
}

export function customArguments(input: string): string {
  return JSON.stringify({ input });
}

/** The free text in a call's arguments, empty without any; a model that did not keep to the schema is quoted as it wrote. */
export function customInput(argumentsText: string): string {
  if (argumentsText === "{}") return "";
  const input = parseObject(argumentsText)?.["input"];
  return typeof input === "string" ? input : argumentsText;
}
