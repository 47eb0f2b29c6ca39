import type { DeploymentConfig, ProviderConfig } from "@sluice/contract/config-file";
import { modelNamePattern } from "@sluice/contract/words";
import type { ImportDraft, ImportedModel } from "#ports/index.ts";
import { kindOfVendor } from "./accounts.ts";
import type { ImportSources } from "./import-sources.ts";
import { isLoose, isPresent, type Loose, numberIn, objectIn, rowsIn, textIn } from "./loose.ts";
import { slugOf, UniqueNames } from "./names.ts";
import { Notes } from "./notes.ts";

interface Target {
  readonly provider: string;
  readonly model: string;
  readonly weight: number | null;
}

/** A provider by the slug of its virtual key. */
type Providers = ReadonlyMap<string, ProviderConfig>;

/**
 * `virtual_keys` and `configs` of Portkey's API. Its virtual keys are accounts at vendors, which become providers without their secrets; a
 * config becomes a model with the name of its slug.
 */
export function fromPortkey(exported: Loose, { listPrice }: ImportSources): ImportDraft {
  const notes = new Notes();
  const providers = providersOf(listIn(exported, "virtual_keys"), notes);
  const models = listIn(exported, "configs").flatMap((row): ImportedModel[] => {
    const name = textIn(row, "slug") ?? textIn(row, "name") ?? "";
    const config = objectIn(row, "config");
    const model = modelOf(name, config, providers, notes);
    const [first] = model?.deployments ?? [];
    if (model === null || first === undefined) return [];
    const kind = [...providers.values()].find(({ id }) => id === first.provider)?.kind ?? "";
    const price = listPrice(kind, first.upstream_model ?? name);
    if (price === null) notes.add(`price of model ${name}`, "the price list does not have it");
    return [{ ...model, ...(price === null ? {} : { price, price_origin: "price_list" as const }) }];
  });
  notes.add("API keys", "Portkey does not export them; create keys, and send the name of a config as `model`");
  return {
    product: "portkey",
    ...{ providers: [...providers.values()], models, workspaces: [], users: [], budgets: [] },
    notCarried: notes.list,
  };
}

/** A list, or an answer of the API with it in `data`. */
function listIn(exported: Loose, name: string): readonly Loose[] {
  return isLoose(exported[name]) ? rowsIn(objectIn(exported, name), "data") : rowsIn(exported, name);
}

function providersOf(rows: readonly Loose[], notes: Notes): Providers {
  const ids = new UniqueNames();
  const providers = rows.flatMap((row): [string, ProviderConfig][] => {
    const slug = textIn(row, "slug") ?? "";
    const vendor = textIn(row, "ai_provider_name") ?? textIn(row, "provider") ?? slug;
    const target = kindOfVendor(vendor.toLowerCase().replaceAll(" ", "-"), null);
    const label = `virtual key ${slug}`;
    if (target === null) {
      notes.add(label, `Sluice has no provider type for ${vendor}`);
      return [];
    }
    for (const field of ["usage_limits", "rate_limits", "expires_at"]) {
      if (isPresent(row[field])) notes.add(label, `\`${field}\`: providers have no limits`);
    }
    notes.add(label, "Portkey does not export its secret; set the provider's key and settings");
    const { kind, address } = target;
    const provider = {
      ...{ id: ids.take(`portkey-${slugOf(slug, kind)}`), kind, ...(address === null ? {} : { base_url: address }) },
      ...(textIn(row, "status") === "archived" ? { enabled: false } : {}),
      ...(requiredSettings[kind] ?? {}),
    };
    return [[slug, provider]];
  });
  return new Map(providers);
}

/** Placeholders for settings that Portkey does not export. */
const requiredSettings: Readonly<Record<string, Pick<ProviderConfig, "settings" | "base_url">>> = {
  "azure-openai": { base_url: "https://not-set.invalid" },
  bedrock: { settings: { region: "us-east-1" } },
  vertex: { settings: { project: "not-set" } },
};

function modelOf(name: string, config: Loose, providers: Providers, notes: Notes): ImportedModel | null {
  const label = `config ${name}`;
  if (!modelNamePattern.test(name)) {
    notes.add(label, "its slug is not the name of a model");
    return null;
  }
  const mode = textIn(objectIn(config, "strategy"), "mode") ?? "single";
  if (mode !== "single" && mode !== "fallback" && mode !== "loadbalance") {
    notes.add(label, `the strategy ${mode} has no counterpart`);
    return null;
  }
  for (const field of ["cache", "input_guardrails", "output_guardrails"]) {
    if (isPresent(config[field])) notes.add(label, `\`${field}\` has no counterpart`);
  }
  const targets = rowsIn(config, "targets").length === 0 ? [config] : rowsIn(config, "targets");
  const deployments = targets.flatMap((row, at): DeploymentConfig[] => {
    const target = targetOf(row, providers);
    if (target === null) {
      notes.add(label, "a target is nested, names no model in `override_params`, or its virtual key was not imported");
      return [];
    }
    const { provider, model, weight } = target;
    const share =
      mode === "loadbalance" && weight !== null ? { weight: Math.min(1_000_000, Math.round(weight * 100)) } : {};
    return [{ provider, upstream_model: model, ...(mode === "fallback" ? { priority: at + 1 } : {}), ...share }];
  });
  const unique = new Map(deployments.map((each) => [`${each.provider}/${each.upstream_model}`, each]));
  return unique.size === 0 ? null : { name, deployments: [...unique.values()].slice(0, 100) };
}

function targetOf(row: Loose, providers: Providers): Target | null {
  const slug = textIn(row, "virtual_key") ?? textIn(row, "provider")?.replace(/^@/, "") ?? "";
  const provider = providers.get(slug);
  const model = textIn(objectIn(row, "override_params"), "model");
  if (provider === undefined || model === null) return null;
  return { provider: provider.id, model, weight: numberIn(row, "weight") };
}
