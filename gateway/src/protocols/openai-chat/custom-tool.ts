import type { Turn, TurnTool } from "#core/index.ts";
import { parseObject } from "../json/value.ts";

/**
 * OpenAI's custom tools take free text. Elsewhere they are tools with one text argument. All share this schema object, which identifies
 * them.
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

export function customNames(turn: Pick<Turn, "tools">): ReadonlySet<string> {
  return new Set(turn.tools.filter((tool) => tool.parameters === freeText).map((tool) => tool.name));
}

export function isCustom(tool: TurnTool): boolean {
  return tool.parameters === freeText;
}

export function customArguments(input: string): string {
  return JSON.stringify({ input });
}

/** The free text in a call's arguments, or the arguments as they are if the model ignored the schema. */
export function customInput(argumentsText: string): string {
  if (argumentsText === "{}") return "";
  const input = parseObject(argumentsText)?.["input"];
  return typeof input === "string" ? input : argumentsText;
}
