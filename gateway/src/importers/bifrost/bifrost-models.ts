import type { DeploymentConfig } from "@sluice/contract/config-file";
import { modelNamePattern } from "@sluice/contract/words";
import type { ImportedModel } from "#ports/index.ts";
import { providerKind } from "#providers/index.ts";
import { type Account, type Accounts, kindOfVendor, type VendorTarget } from "../accounts.ts";
import type { ImportSources } from "../import-sources.ts";
import { type Loose, numberIn, rowsIn, textIn, textsIn } from "../loose.ts";
import type { Notes } from "../notes.ts";
import { type Bifrost, type BifrostProvider, variableIn } from "./bifrost-input.ts";

/** Callers name a model with or without its provider: `openai/gpt-6.1-sol` or `gpt-6.1-sol`. Both become models. */
export function modelsOfBifrost(
  { providers, virtualKeys }: Bifrost,
  accounts: Accounts,
  notes: Notes,
  { listPrice }: ImportSources,
): readonly ImportedModel[] {
  const models = new Map<string, { readonly target: VendorTarget; readonly deployments: DeploymentConfig[] }>();
  const add = (name: string, target: VendorTarget, deployment: DeploymentConfig) => {
    if (!modelNamePattern.test(name)) return;
    const model = models.get(name) ?? { target, deployments: [] };
    model.deployments.push(deployment);
    models.set(name, model);
  };
  for (const provider of providers) {
    const target = kindOfVendor(provider.vendor, provider.address);
    if (target === null) {
      notes.add(`provider ${provider.name}`, "Sluice has no provider type for it");
      continue;
    }
    const allowed = virtualKeys.flatMap((key) =>
      rowsIn(key, "provider_configs")
        .filter((config) => textIn(config, "provider") === provider.name)
        .flatMap((config) => textsIn(config, "allowed_models")),
    );
    const every = new Set([...provider.keys.flatMap((key) => textsIn(key, "models")), ...allowed]);
    every.delete("*");
    if (every.size === 0) {
      notes.add(
        `models of provider ${provider.name}`,
        "it serves all models of the vendor; create the ones that are used",
      );
    }
    for (const key of provider.keys) {
      const id = accounts.idOf(accountOf(target.kind, target.address, key, provider));
      for (const model of modelsOfKey(key, every)) {
        const deployment = { provider: id, upstream_model: model, ...weightIn(key) };
        add(`${provider.name}/${model}`, target, deployment);
        add(model, target, deployment);
      }
    }
  }
  return [...models].map(([name, { target, deployments }]) => {
    const unique = [...new Map(deployments.map((each) => [`${each.provider}/${each.upstream_model}`, each])).values()];
    const price = listPrice(target.pricedAs, unique[0]?.upstream_model ?? name);
    if (price === null) notes.add(`price of model ${name}`, "the price list does not have it");
    return {
      name,
      deployments: unique.slice(0, 100),
      ...(price === null ? {} : { price }),
      ...(price === null || target.kind !== target.pricedAs ? {} : { price_origin: "price_list" as const }),
    };
  });
}

function modelsOfKey(key: Loose, every: ReadonlySet<string>): readonly string[] {
  const own = textsIn(key, "models");
  return own.length === 0 || own.includes("*") ? [...every] : own;
}

function weightIn(key: Loose): Pick<DeploymentConfig, "weight"> {
  const weight = numberIn(key, "weight");
  return weight === null ? {} : { weight: Math.min(1_000_000, Math.max(0, Math.round(weight * 100))) };
}

/** The settings of a provider type by their columns. */
const columns: Readonly<Record<string, readonly (readonly [setting: string, column: string])[]>> = {
  bedrock: [
    ["region", "bedrock_region"],
    ["access_key_id", "bedrock_access_key"],
    ["secret_access_key", "bedrock_secret_key"],
    ["session_token", "bedrock_session_token"],
  ],
  vertex: [
    ["project", "vertex_project_id"],
    ["location", "vertex_region"],
  ],
};

function accountOf(kind: string, address: string | null, key: Loose, provider: BifrostProvider): Account {
  const own = variableIn(key, "azure_endpoint") ?? variableIn(key, "vllm_url") ?? variableIn(key, "ollama_url");
  // Bifrost appends /v1.
  const base =
    kind === "openai-compatible" && address !== null && provider.address !== null
      ? `${address.replace(/\/+$/, "")}/v1`
      : address;
  const entries = (columns[kind] ?? []).flatMap(([setting, column]) => {
    const value = variableIn(key, column);
    return value === null ? [] : [[setting, value] as const];
  });
  const standard = providerKind(kind)?.baseUrl ?? null;
  const place = own ?? base;
  const apiKey = kind === "vertex" ? variableIn(key, "vertex_auth_credentials") : variableIn(key, "value");
  return {
    kind,
    ...(place === null || place === standard ? {} : { base_url: place }),
    ...(apiKey === null ? {} : { api_key: apiKey }),
    ...(entries.length === 0 ? {} : { settings: Object.fromEntries(entries) }),
  };
}
