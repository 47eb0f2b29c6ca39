import { type ModelEndpointRow, modelEndpoints } from "@sluice/contract/words";
import { bounds, type ConfigSnapshot, Failure, isBlocked, type Model, type Principal } from "#core/index.ts";
import { mayCall, noModel } from "#identity/index.ts";
import { type CallEndpointId, endpointProtocols } from "#protocols/index.ts";
import { passes, serves } from "#relay/index.ts";
import { makesVideos } from "#tasks/index.ts";
import { withKey } from "../authenticated.ts";
import type { Exchange } from "../dependencies.ts";
import { geminiRoot, isGoogles, modelInPath } from "../google-path.ts";

const geminiPageMax = 1_000;

/** A page of models in Gemini's shape. Source: Gemini API reference, models.list. */
function geminiModels(models: readonly Model[], query: URLSearchParams): object {
  const size = readSize(query.get("pageSize"));
  const after = readToken(query.get("pageToken"));
  const rest = after === null ? models : models.filter(({ name }) => name > after);
  const page = rest.slice(0, size);
  const last = page.at(-1);
  return {
    models: page.map(geminiModel),
    ...(last !== undefined && rest.length > size ? { nextPageToken: tokenOf(last.name) } : {}),
  };
}

/** Members that Sluice has no value for (version, input limit) are omitted. */
function geminiModel(model: Model): object {
  return {
    name: `models/${model.name}`,
    displayName: model.name,
    ...(typeof model.outputTokensMax === "number" ? { outputTokenLimit: model.outputTokensMax } : {}),
    supportedGenerationMethods: methodsOf(model),
  };
}

/** Every model that generates can count tokens, if only as an estimate. */
function methodsOf(model: Model): readonly string[] {
  if (model.type === "chat" && serves([model], endpointProtocols.generate)) return ["generateContent", "countTokens"];
  const embeds = model.type === "embedding" && serves([model], endpointProtocols["batch-embed-contents"]);
  return embeds ? ["embedContent", "batchEmbedContents"] : [];
}

function readSize(text: string | null): number {
  // Source: the vendor's default.
  if (text === null || text === "" || text === "0") return 50;
  const size = Number(text);
  if (Number.isSafeInteger(size) && size > 0) return Math.min(size, geminiPageMax);
  throw new Failure("invalid_request", "pageSize must be an integer of at least 0.", { param: "pageSize" });
}

/** A token is the last name of a page, so that models added or removed meanwhile do not shift the next page. */
function tokenOf(name: string): string {
  return Buffer.from(name).toString("base64url");
}

/** Base64 of a name with four bytes for each character. */
const tokenCharactersMax = Math.ceil((bounds.modelNameCharactersMax * 4 * 4) / 3);

function readToken(token: string | null): string | null {
  if (token === null || token === "") return null;
  const name = token.length > tokenCharactersMax ? "" : Buffer.from(token, "base64url").toString();
  if (name !== "" && tokenOf(name) === token) return name;
  throw new Failure("invalid_request", "pageToken is not a token of this list.", { param: "pageToken" });
}

const listed = (Object.entries(modelEndpoints) as [CallEndpointId, ModelEndpointRow][]).map(
  ([endpoint, { path, types }]) => ({ path, types, protocol: endpointProtocols[endpoint] }),
);

function listedFor({ type }: Model) {
  return listed.filter(({ types }) => types.includes(type));
}

/** GET /v1/models and /v1beta/models: the models that the key may use, sorted by id; `?type=` filters. */
export const listModels = withKey((exchange, principal) => {
  const query = new URLSearchParams(exchange.query);
  const type = query.get("type");
  const models = availableModels(exchange.dependencies.configSnapshot(), principal).filter(
    (model) => type === null || model.type === type,
  );
  if (speaksAnthropic(exchange)) return anthropicList(models);
  if (speaksGemini(exchange)) return geminiModels(models, query);
  const list = { object: "list", data: models.map(openaiModel) };
  return query.has(codexVersion) ? { ...list, models: [] } : list;
});

/**
 * Codex sends its version to get prompts and tools that the server has for its models. Sluice has none. Without the member `models`
 * Codex logs an error at each start.
 */
const codexVersion = "client_version";

/** GET /v1/models/{model} and /v1beta/models/{model}. The error is the same for a model that is not granted and one that does not exist. */
export const getModel = withKey((exchange, principal) => {
  const configSnapshot = exchange.dependencies.configSnapshot();
  const name = modelInPath(exchange.path, (name) => availableModel(configSnapshot, principal, name) !== null);
  const model = availableModel(configSnapshot, principal, name);
  if (model === null) throw noModel(configSnapshot, principal, name);
  if (speaksAnthropic(exchange)) return anthropicModel(model);
  return speaksGemini(exchange) ? geminiModel(model) : openaiModel(model);
});

function availableModel({ models }: ConfigSnapshot, principal: Principal, name: string): Model | null {
  const model = models.get(name);
  return model !== undefined && isAvailable(model, principal) ? model : null;
}

function availableModels({ models }: ConfigSnapshot, principal: Principal): Model[] {
  return [...models.values()]
    .filter((model) => isAvailable(model, principal))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

function isAvailable(model: Model, principal: Principal): boolean {
  if (isBlocked(model, principal) || !mayCall(principal, model.name)) return false;
  return model.deployments.some((deployment) => deployment.enabled && deployment.provider.enabled);
}

function openaiModel(model: Model): object {
  return {
    id: model.name,
    object: "model",
    created: model.createdAt,
    owned_by: model.ownedBy,
    type: model.type,
    endpoints: endpointsOf(model),
    available: true,
  };
}

/** The endpoints at which the enabled deployments of a model can be called. Videos are tasks, with endpoints of no dialect. */
export function endpointsOf(model: Model): readonly string[] {
  if (model.type === "video") return makesVideos(model) ? ["/v1/video/tasks", "/v1/videos"] : [];
  const served = listedFor(model).filter(({ protocol }) => serves([model], protocol));
  return served.map(({ path }) => path);
}

/** The endpoints among these at which the preferred deployments need no translation. */
export function untranslatedEndpointsOf(model: Model): readonly string[] {
  const untranslated = listedFor(model).filter(({ protocol }) => passes(model, protocol));
  return untranslated.map(({ path }) => path);
}

function anthropicModel(model: Model): object {
  return {
    type: "model",
    id: model.name,
    display_name: model.name,
    created_at: new Date(model.createdAt * 1_000).toISOString(),
    // The shape allows null where Sluice has no value.
    max_input_tokens: null,
    max_tokens: null,
    capabilities: null,
    lifecycle: "active",
    line: null,
    deprecated_at: null,
    retires_at: null,
  };
}

function anthropicList(models: readonly Model[]): object {
  return {
    data: models.map(anthropicModel),
    has_more: false,
    first_id: models[0]?.name ?? null,
    last_id: models.at(-1)?.name ?? null,
  };
}

function speaksAnthropic({ path, request }: Exchange): boolean {
  if (path.startsWith(geminiRoot)) return false;
  // Claude Code lists models without sending a version.
  return (
    request.headers.has("anthropic-version") || request.headers.get("user-agent")?.startsWith("claude-code/") === true
  );
}

function speaksGemini({ path, request }: Exchange): boolean {
  return path.startsWith(geminiRoot) || isGoogles(request.headers);
}
