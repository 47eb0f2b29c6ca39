import { Refusal } from "../dialect.ts";
import { openAiError } from "./openai-face.ts";

/** GET …/models and GET …/models/{id}; null when the path is neither. */
export function openAiModels(
  path: string,
  models: readonly string[],
): { readonly status: number; readonly body: string } | null {
  const at = path.indexOf("/models");
  if (at < 0) return null;
  const rest = path.slice(at + "/models".length);
  if (rest === "") return { status: 200, body: JSON.stringify({ object: "list", data: models.map(modelOf) }) };
  if (!rest.startsWith("/")) return null;
  const id = decoded(rest.slice(1));
  if (models.includes(id)) return { status: 200, body: JSON.stringify(modelOf(id)) };
  return { status: 404, body: openAiError(new Refusal(404, `The model '${id}' does not exist`, { param: "model" })) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function modelOf(id: string): unknown {
  return { id, object: "model", created: 1_700_000_000, owned_by: "sluice-simulator" };
}
