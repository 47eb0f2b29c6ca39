import type { Turn, TurnTool } from "#core/index.ts";
import { parseObject } from "../json/value.ts";

/** OpenAI's custom tools take free text. Elsewhere they are tools with one text argument. */
interface CustomTool extends TurnTool {
  readonly isCustom: true;
}

const freeText: TurnTool["parameters"] = Object.freeze({
  type: "object",
  properties: { input: { type: "string", description: "The tool's whole input, as plain text." } },
  required: ["input"],
  additionalProperties: false,
});

export function customTool(name: string, description: string | null): CustomTool {
  return { name, description, parameters: freeText, strict: null, cache: null, isCustom: true };
}

export function customNames({ tools }: Pick<Turn, "tools">): ReadonlySet<string> {
  return new Set(tools.filter((tool) => "isCustom" in tool).map(({ name }) => name));
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
