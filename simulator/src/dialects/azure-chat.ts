import { type Dialect, Refusal } from "../dialect.ts";
import { pathPart } from "../path-part.ts";
import type { SimulatorRequest } from "../request.ts";
import { type ChatVariant, chatExchange } from "./openai-chat.ts";
import { readChat } from "./openai-chat-request.ts";
import { openAiError } from "./openai-conventions.ts";

/**
 * Chat completions on Azure: the model is a deployment, which the path names in the dated API. Answers contain the content
 * filter's results; in streams they are in a first chunk without a choice.
 */
export const azureChat: Dialect = {
  id: "azure-chat",
  matches: (request) => request.method === "POST" && request.path.endsWith("/chat/completions") && isAzure(request),
  read(request) {
    if ((request.headers["api-key"] ?? request.headers["authorization"]) === undefined) {
      throw new Refusal(401, "Access denied due to invalid subscription key or wrong API endpoint.", { code: "401" });
    }
    const exchange = chatExchange(readChat(request, deploymentOf(request)), azureVariant);
    return {
      ...exchange,
      admit({ blocked }) {
        if (blocked === undefined) return;
        const message = "The response was filtered due to the prompt triggering Azure's content management policy.";
        throw new Refusal(400, message, { param: "prompt", code: "content_filter" });
      },
    };
  },
  headers: ({ requestId }) => [
    ["apim-request-id", requestId],
    ["x-request-id", requestId],
    ["x-ms-region", "Sweden Central"],
    ["x-ratelimit-remaining-requests", "999"],
    ["x-ratelimit-remaining-tokens", "999000"],
  ],
  error: azureError,
};

/** The dated API, or the v1 API with Azure's header; other vendors have /openai/v1 in their base path, too. */
function isAzure({ path, headers }: SimulatorRequest): boolean {
  return path.includes("/openai/deployments/") || (path.includes("/openai/v1/") && headers["api-key"] !== undefined);
}

function deploymentOf({ path }: SimulatorRequest): string | null {
  const match = /\/openai\/deployments\/([^/]+)\//.exec(path)?.[1];
  return match === undefined ? null : pathPart(match);
}

const category = { filtered: false, severity: "safe" };
const results = JSON.stringify({ hate: category, self_harm: category, sexual: category, violence: category });
const promptResults = `"prompt_filter_results":[{"prompt_index":0,"content_filter_results":${results}}],`;

const azureVariant: ChatVariant = {
  opening: `{"choices":[],"created":0,"id":"","model":"",${promptResults}"object":""}`,
  top: promptResults,
  choice: `"content_filter_results":${results},`,
};

/** Errors before the model have a short format, errors of the content filter a long one. */
function azureError(refusal: Refusal, requestId: string): string {
  const { status, message, code, param } = refusal;
  if (code === "content_filter") {
    const innererror = { code: "ResponsibleAIPolicyViolation", content_filter_result: JSON.parse(results) };
    return JSON.stringify({ error: { message, type: null, param, code, status, innererror } });
  }
  if (status === 401 || status === 429) return JSON.stringify({ error: { code: String(status), message } });
  if (status === 404) return JSON.stringify({ error: { code: "DeploymentNotFound", message } });
  return openAiError(refusal, requestId);
}
