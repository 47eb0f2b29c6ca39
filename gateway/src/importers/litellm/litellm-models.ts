import type { PriceConfig } from "@sluice/contract/config-file";
import { modelNamePattern } from "@sluice/contract/words";
import type { ModelType } from "#core/index.ts";
import type { ImportedModel } from "#ports/index.ts";
import { providerKind } from "#providers/index.ts";
import { type Account, type Accounts, kindOfVendor, type VendorTarget } from "../accounts.ts";
import type { ImportSources } from "../import-sources.ts";
import { isPresent, type Loose, numberIn, objectIn, rowsIn, textIn, textsIn } from "../loose.ts";
import type { Notes } from "../notes.ts";
import type { LiteLlmDeployment } from "./litellm-input.ts";

interface Routing {
  readonly litellm: Loose;
  readonly router: Loose;
}

/** Models of deployments with the same name, then a model for each alias. */
export function modelsOf(
  deployments: readonly LiteLlmDeployment[],
  { litellm, router }: Routing,
  accounts: Accounts,
  notes: Notes,
  sources: ImportSources,
): readonly ImportedModel[] {
  const models: ImportedModel[] = [];
  for (const [name, all] of Map.groupBy(deployments, ({ model }) => model)) {
    const model = modelOf(name, all, accounts, notes, sources);
    if (model !== null) models.push(model);
  }
  for (const [alias, value] of Object.entries(objectIn(router, "model_group_alias"))) {
    const target = typeof value === "string" ? value : textIn((value ?? {}) as Loose, "model");
    addAlias(models, alias, target, notes);
  }
  return withFallbacks(models, { litellm, router }, notes);
}

/** An alias has the deployments and the price of its model. */
export function addAlias(models: ImportedModel[], alias: string, target: string | null, notes: Notes): boolean {
  if (models.some(({ name }) => name === alias)) return false;
  const model = models.find(({ name }) => name === target);
  if (model === undefined || !modelNamePattern.test(alias)) {
    notes.add(`alias ${alias}`, "its model was not imported, or it is a pattern");
    return false;
  }
  const deployments = model.deployments.map((deployment) => ({
    ...deployment,
    upstream_model: deployment.upstream_model ?? model.name,
  }));
  models.push({ ...model, name: alias, deployments });
  return true;
}

function modelOf(
  name: string,
  all: readonly LiteLlmDeployment[],
  accounts: Accounts,
  notes: Notes,
  sources: ImportSources,
): ImportedModel | null {
  const label = `model ${name}`;
  if (all.some(({ info }) => isPresent(info["team_id"]))) {
    notes.add(label, "it belongs to one team; create it, and list it in the models of the team's workspace");
    return null;
  }
  if (!modelNamePattern.test(name)) {
    notes.add(label, "a model's name cannot be a pattern; create the models that are used");
    return null;
  }
  const found = all.flatMap((each) => {
    const deployment = deploymentOf(label, each, accounts, notes);
    return deployment === null ? [] : [{ ...each, ...deployment }];
  });
  const [first] = found;
  if (first === undefined) return null;
  const unique = new Map(
    found.map(({ deployment }) => [`${deployment.provider}/${deployment.upstream_model}`, deployment]),
  );
  const { listed: entry } = first;
  const own = found.map(priceOf).find((price) => price !== null) ?? null;
  const listed = own === null ? sources.listPrice(entry.kind, entry.model) : null;
  const price = own ?? listed;
  if (price === null) notes.add(`price of ${label}`, "neither LiteLLM's configuration nor the price list has it");
  const outputMax = wholeIn(first.info, "max_output_tokens");
  const window = wholeIn(first.info, "max_input_tokens");
  return {
    name,
    type: typeOf(first.info),
    deployments: [...unique.values()].slice(0, deploymentsMax),
    ...(price === null ? {} : { price }),
    ...(listed === null || !entry.isOfDeployment ? {} : { price_origin: "price_list" as const }),
    ...(outputMax === null ? {} : { max_output_tokens: outputMax }),
    ...(window === null ? {} : { context_window: window }),
  };
}

const deploymentsMax = 100;

function deploymentOf(label: string, { params, info, blocked }: LiteLlmDeployment, accounts: Accounts, notes: Notes) {
  const full = textIn(params, "model") ?? "";
  const { vendor, upstream } = vendorOf(full, textIn(params, "custom_llm_provider"));
  const address = referenceIn(params, "api_base") ?? referenceIn(params, "base_url");
  const target = vendor === null ? null : kindOfVendor(vendor, address);
  if (target === null || upstream === "" || upstream.includes("*")) {
    notes.add(`a deployment of ${label} at ${full || "an unknown vendor"}`, "Sluice has no provider type for it");
    return null;
  }
  for (const name of ["tags", "max_budget", "rpm", "tpm", "max_parallel_requests", "aws_role_name"]) {
    if (isPresent(params[name])) notes.add(label, `\`${name}\` of a deployment has no counterpart`);
  }
  const { kind } = target;
  const weight = numberIn(params, "weight");
  const order = numberIn(params, "order");
  const deployment = {
    provider: accounts.idOf(accountOf(kind, target.address, params)),
    upstream_model: upstream,
    ...(order === null ? {} : { priority: Math.min(1_000, Math.max(0, Math.round(order))) }),
    ...(weight === null ? {} : { weight: Math.min(1_000_000, Math.max(0, Math.round(weight * 100))) }),
    ...(blocked ? { enabled: false } : {}),
  };
  return { deployment, listed: listedOf({ params, info }, target, upstream) };
}

/** The price list's model of a deployment: LiteLLM charges `base_model`, if one is set. */
function listedOf(
  { params, info }: Pick<LiteLlmDeployment, "params" | "info">,
  target: VendorTarget,
  upstream: string,
) {
  const base = textIn(info, "base_model") ?? textIn(params, "base_model");
  if (base === null) return { kind: target.pricedAs, model: upstream, isOfDeployment: target.pricedAs === target.kind };
  const { vendor, upstream: model } = vendorOf(base, null);
  const kind = (vendor === null ? null : kindOfVendor(vendor, null))?.pricedAs ?? target.pricedAs;
  return { kind, model, isOfDeployment: false };
}

/** `vendor/model`, or the name of a well-known model. */
function vendorOf(full: string, given: string | null): { readonly vendor: string | null; readonly upstream: string } {
  const slash = full.indexOf("/");
  if (given !== null)
    return { vendor: given, upstream: full.startsWith(`${given}/`) ? full.slice(given.length + 1) : full };
  if (slash === -1) {
    const vendor = families.find(([pattern]) => pattern.test(full))?.[1] ?? null;
    return { vendor, upstream: full };
  }
  const vendor = full.slice(0, slash);
  const upstream = full.slice(slash + 1).replace(vendor === "bedrock" ? /^(?:converse|invoke)\// : /^responses\//, "");
  return { vendor, upstream };
}

const families: readonly (readonly [RegExp, string])[] = [
  [/^(?:gpt-|chatgpt-|o\d|text-embedding-|dall-e|whisper|tts-)/, "openai"],
  [/^claude-/, "anthropic"],
  [/^gemini-/, "gemini"],
  [/^command-/, "cohere"],
];

function accountOf(kind: string, address: string | null, params: Loose): Account {
  const variable = address === null ? (providerKind(kind)?.envKey ?? null) : null;
  const key = kind === "vertex" ? credentialsIn(params) : referenceIn(params, "api_key");
  const apiKey = key ?? (variable === null ? null : `\${${variable}}`);
  const settings = settingsOf(kind, params);
  return {
    kind,
    ...(address === null ? {} : { base_url: address }),
    ...(apiKey === null ? {} : { api_key: apiKey }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  };
}

const settingNames: Readonly<Record<string, readonly (readonly [setting: string, param: string])[]>> = {
  "azure-openai": [["api_version", "api_version"]],
  bedrock: [
    ["region", "aws_region_name"],
    ["access_key_id", "aws_access_key_id"],
    ["secret_access_key", "aws_secret_access_key"],
    ["session_token", "aws_session_token"],
  ],
  vertex: [
    ["project", "vertex_project"],
    ["location", "vertex_location"],
  ],
};

function settingsOf(kind: string, params: Loose): Readonly<Record<string, string>> {
  const entries = (settingNames[kind] ?? []).flatMap(([setting, param]) => {
    const value = referenceIn(params, param);
    return value === null ? [] : [[setting, value] as const];
  });
  return Object.fromEntries(entries);
}

/** The JSON key of a service account, as text or as an object. */
function credentialsIn(params: Loose): string | null {
  const value = params["vertex_credentials"];
  return typeof value === "object" && value !== null
    ? JSON.stringify(value)
    : referenceIn(params, "vertex_credentials");
}

/** `os.environ/NAME` as `${NAME}`. */
function referenceIn(row: Loose, name: string): string | null {
  const text = textIn(row, name);
  const variable = text === null ? null : /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/.exec(text)?.[1];
  return variable == null ? text : `\${${variable}}`;
}

const types: Readonly<Record<string, ModelType>> = {
  embedding: "embedding",
  completion: "completion",
  image_generation: "image",
  image_edit: "image",
  audio_transcription: "transcription",
  audio_speech: "speech",
  rerank: "rerank",
  moderation: "moderation",
  video_generation: "video",
};

function typeOf(info: Loose): ModelType {
  return types[textIn(info, "mode") ?? ""] ?? "chat";
}

/** Prices by their names at LiteLLM: USD for one token. */
const tokenPrices: Readonly<Record<string, keyof PriceConfig>> = {
  input_cost_per_token: "input",
  output_cost_per_token: "output",
  cache_read_input_token_cost: "cache_read",
  cache_creation_input_token_cost: "cache_write_5m",
  input_cost_per_audio_token: "audio_input",
  output_cost_per_audio_token: "audio_output",
};

function priceOf({ params, info }: LiteLlmDeployment): PriceConfig | null {
  const price: Record<string, number> = {};
  for (const [name, field] of Object.entries(tokenPrices)) {
    const cost = numberIn(info, name) ?? numberIn(params, name);
    // USD per million, without the error of a binary fraction.
    if (cost !== null && cost >= 0) price[field] = Number((cost * 1e6).toPrecision(12));
  }
  return Object.keys(price).length === 0 ? null : price;
}

function wholeIn(row: Loose, name: string): number | null {
  const value = numberIn(row, name);
  return value !== null && Number.isSafeInteger(value) && value >= 1 && value <= 100_000_000 ? value : null;
}

function withFallbacks(
  models: readonly ImportedModel[],
  { litellm, router }: Routing,
  notes: Notes,
): readonly ImportedModel[] {
  const names = new Set(models.map(({ name }) => name));
  const wanted = new Map<string, string[]>();
  for (const section of [router, litellm]) {
    for (const field of ["fallbacks", "context_window_fallbacks"]) {
      for (const entry of rowsIn(section, field)) {
        for (const model of Object.keys(entry))
          wanted.set(model, [...(wanted.get(model) ?? []), ...textsIn(entry, model)]);
      }
    }
    if (isPresent(section["content_policy_fallbacks"])) {
      notes.add("content_policy_fallbacks", "refusals by a vendor's content policy are returned to the caller");
    }
  }
  const general = [...textsIn(router, "default_fallbacks"), ...textsIn(litellm, "default_fallbacks")];
  return models.map((model) => {
    const fallbacks = new Set(wanted.get(model.name) ?? general);
    fallbacks.delete(model.name);
    for (const name of fallbacks) {
      if (names.has(name)) continue;
      notes.add(`fallback ${name} of model ${model.name}`, "this model was not imported");
      fallbacks.delete(name);
    }
    return fallbacks.size === 0 ? model : { ...model, fallbacks: [...fallbacks].slice(0, fallbacksMax) };
  });
}

const fallbacksMax = 10;
