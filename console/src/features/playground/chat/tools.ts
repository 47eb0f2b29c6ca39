import { t } from "../../../language/areas/playground.ts";
import { readJson } from "../../media/more-fields.ts";

export type ReadTools = { readonly tools: readonly unknown[]; readonly problem: null } | { readonly problem: string };

/** Parses tools from JSON: a list of functions. Vendors validate anything beyond `type`. */
export function readTools(text: string): ReadTools {
  if (text.trim() === "") return { tools: [], problem: null };
  const read = readJson(text);
  if (read.problem !== null) return read;
  if (!Array.isArray(read.value)) return { problem: t("playground.tools.notList") };
  const wrong = read.value.findIndex((tool) => !isTool(tool));
  if (wrong >= 0) return { problem: t("playground.tools.incomplete", { number: wrong + 1 }) };
  return { tools: read.value, problem: null };
}

function isTool(tool: unknown): boolean {
  if (tool === null || typeof tool !== "object" || !("type" in tool) || typeof tool.type !== "string") return false;
  if (tool.type !== "function") return true;
  const named = "function" in tool ? tool.function : null;
  return named !== null && typeof named === "object" && "name" in named && typeof named.name === "string";
}

export const sampleTools = JSON.stringify(
  [
    {
      type: "function",
      function: {
        name: "get_weather",
        description: "Get the current weather in a city.",
        parameters: {
          type: "object",
          properties: { city: { type: "string" }, unit: { type: "string", enum: ["celsius", "fahrenheit"] } },
          required: ["city"],
        },
      },
    },
  ],
  null,
  2,
);
