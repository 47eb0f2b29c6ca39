import { type Dialect, Refusal } from "../dialect.ts";
import { pathPart } from "../path-part.ts";
import type { SimulatorRequest } from "../request.ts";
import { type ChatFlavour, chatExchange } from "./openai-chat.ts";
import { readChat } from "./openai-chat-request.ts";
import { openAiError } from "./openai-conventions.ts";

/**
 * Chat completions as Azure serves them: the model is a deployment, named by the path in the dated form; answers tell
 * what the content filter thought, streams in a first chunk without any choice.
 */
export const azureChat: Dialect = {
  id: "azure-chat",
  matches: (request) => request.method === "POST" && request.path.endsWith("/chat/completions") && isAzure(request),
  read(request) {
    if ((request.headers["api-key"] ?? request.headers["authorization"]) === undefined) {
      throw new Refusal(401, "Access denied due to invalid subscription key or wrong API endpoint.", { code: "401" });
    }
    const exchange = chatExchange(readChat(request, deploymentOf(request)), azureFlavour);
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

/** The dated form, or the v1 form with Azure's own header: others have /openai/v1 in their base path too. */
function isAzure({ path, headers }: SimulatorRequest): boolean {
  return path.includes("/openai/deployments/") || (path.includes("/openai/v1/") && headers["api-key"] !== undefined);
}

function deploymentOf({ path }: SimulatorRequest): string | null {
  const found = /\/openai\/deployments\/([^/]+)\//.exec(path)?.[1];
  return found === undefined ? null : pathPart(found);
}

const category = { filtered: false, severity: "safe" };
const results = JSON.stringify({ hate: category, self_harm: category, sexual: category, violence: category });
const promptResults = `"prompt_filter_results":[{"prompt_index":0,"content_filter_results":${results}}],`;

const azureFlavour: ChatFlavour = {
  opening: `{"choices":[],"created":0,"id":"","model":"",${promptResults}"object":""}`,
  top: promptResults,
  choice: `"content_filter_results":${results},`,
};

/** Errors from before the model have a short form, the content filter a long one. */
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
