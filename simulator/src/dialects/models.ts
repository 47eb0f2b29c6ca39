import { Refusal } from "../dialect.ts";
import { pathPart } from "../path-part.ts";
import type { SimulatorRequest } from "../request.ts";
import { anthropicError } from "./anthropic-conventions.ts";
import { googleError } from "./google-conventions.ts";
import { openAiError } from "./openai-conventions.ts";

/** Answers GET …/models and GET …/models/{id} in the format that the headers imply; null for other paths. */
export function answerModels(
  request: SimulatorRequest,
  models: readonly string[],
): { readonly status: number; readonly body: string } | null {
  const { path } = request;
  const at = path.indexOf("/models");
  if (at < 0) return null;
  const rest = path.slice(at + "/models".length);
  const shape = shapeOf(request);
  if (rest === "") return { status: 200, body: JSON.stringify(shape.list(models)) };
  if (!rest.startsWith("/")) return null;
  const id = pathPart(rest.slice(1));
  if (models.includes(id)) return { status: 200, body: JSON.stringify(shape.model(id)) };
  const refusal = new Refusal(404, `The model '${id}' does not exist`, { param: "model" });
  return { status: 404, body: shape.error(refusal, "req_simmodels") };
}

interface ModelShape {
  list(models: readonly string[]): unknown;
  model(id: string): unknown;
  error(refusal: Refusal, requestId: string): string;
}

function shapeOf({ headers, query, path }: SimulatorRequest): ModelShape {
  if (headers["anthropic-version"] !== undefined) return anthropicShape;
  const google = headers["x-goog-api-key"] !== undefined || new URLSearchParams(query).has("key");
  return google && !path.includes("/openai/") ? googleShape : openAiShape;
}

const openAiShape: ModelShape = {
  list: (models) => ({ object: "list", data: models.map(openAiShape.model) }),
  model: (id) => ({ id, object: "model", created: 1_700_000_000, owned_by: "sluice-simulator" }),
  error: openAiError,
};

const anthropicShape: ModelShape = {
  list: (models) => ({
    data: models.map(anthropicShape.model),
    has_more: false,
    first_id: models[0] ?? null,
    last_id: models.at(-1) ?? null,
  }),
  model: (id) => ({
    type: "model",
    id,
    display_name: id,
    created_at: "2026-02-01T00:00:00Z",
    deprecated_at: null,
    retires_at: null,
    line: null,
    max_input_tokens: 200_000,
    max_tokens: 64_000,
    lifecycle: "active",
    capabilities: null,
  }),
  error: anthropicError,
};

const googleShape: ModelShape = {
  list: (models) => ({ models: models.map(googleShape.model) }),
  model: (id) => ({
    name: `models/${id}`,
    version: "001",
    displayName: id,
    description: "A model that does not exist.",
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: ["generateContent", "countTokens"],
  }),
  error: googleError,
};
