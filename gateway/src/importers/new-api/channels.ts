import type { DeploymentConfig, PriceConfig } from "@sluice/contract/config-file";
import { modelNamePattern } from "@sluice/contract/words";
import type { ImportedModel } from "#ports/index.ts";
import { providerKind } from "#providers/index.ts";
import type { Account, Accounts } from "../accounts.ts";
import { type Loose, numberIn, objectIn, textIn } from "../loose.ts";
import type { Notes } from "../notes.ts";
import { channelTypes, customType } from "./channel-types.ts";
import type { NewApiInput } from "./new-api-input.ts";

/** A model of a channel, before priorities of all channels are ranked. */
interface Offer {
  readonly model: string;
  readonly kind: string;
  /** The provider type with the list prices. new-api has a ratio for a model's name, at any address. */
  readonly pricedAs: string;
  readonly groups: readonly string[];
  readonly priority: number;
  readonly deployment: DeploymentConfig;
}

/** Models with their deployments, and the names of the models of each group. */
export function modelsOfChannels(input: NewApiInput, accounts: Accounts, notes: Notes) {
  const offers = input.tables.channels.flatMap((channel) => offersOf(channel, accounts, notes));
  const prices = pricesIn(input, notes);
  const models = [...Map.groupBy(offers, ({ model }) => model)].flatMap(([name, all]): ImportedModel[] => {
    const [first] = all;
    if (first === undefined) return [];
    if (!modelNamePattern.test(name)) {
      notes.add(`model ${name}`, "a model's name cannot be a pattern");
      return [];
    }
    const price = prices(first);
    if (price === null) notes.add(`price of model ${name}`, "neither the ratios nor the price list have it");
    return [{ name, deployments: ranked(all), ...(price ?? {}) }];
  });
  const groups = new Map<string, Set<string>>();
  for (const { model, groups: names } of offers) {
    for (const name of names) groups.set(name, (groups.get(name) ?? new Set()).add(model));
  }
  return { models, groups };
}

/** new-api tries larger priorities first. */
function ranked(offers: readonly Offer[]): DeploymentConfig[] {
  const priorities = [...new Set(offers.map(({ priority }) => priority))].toSorted((one, other) => other - one);
  const unique = new Map(
    offers.map(({ deployment, priority }) => [
      `${deployment.provider}/${deployment.upstream_model}`,
      { ...deployment, priority: priorities.indexOf(priority) + 1 },
    ]),
  );
  return [...unique.values()].slice(0, deploymentsMax);
}

const deploymentsMax = 100;

function offersOf(channel: Loose, accounts: Accounts, notes: Notes): readonly Offer[] {
  const label = `channel ${textIn(channel, "name") ?? channel["id"]}`;
  const mapping = objectIn(channel, "model_mapping");
  const models = namesIn(channel, "models");
  const all = accountsOf(channel, label, notes);
  for (const field of ["param_override", "header_override", "status_code_mapping"]) {
    if (Object.keys(objectIn(channel, field)).length > 0) notes.add(label, `\`${field}\` has no counterpart`);
  }
  const enabled = numberIn(channel, "status") === 1 ? {} : { enabled: false };
  const weight = numberIn(channel, "weight");
  return all.flatMap((account) => {
    const provider = accounts.idOf(account);
    return models.map((model): Offer => {
      const upstream = mapping[model];
      return {
        ...{
          model,
          kind: account.kind,
          pricedAs: channelTypes[numberIn(channel, "type") ?? 0]?.kind ?? "openai",
          groups: namesIn(channel, "group"),
          priority: numberIn(channel, "priority") ?? 0,
        },
        deployment: {
          ...{ provider, upstream_model: typeof upstream === "string" ? upstream : model, ...enabled },
          ...(weight === null || weight <= 0 ? {} : { weight: Math.min(1_000_000, Math.round(weight)) }),
        },
      };
    });
  });
}

/** One account for each key of the channel. */
function accountsOf(channel: Loose, label: string, notes: Notes): readonly Account[] {
  const number = numberIn(channel, "type") ?? 0;
  const own = textIn(channel, "base_url")?.replace(/\/+$/, "") ?? null;
  if (number === customType && own !== null) {
    return keysOf(channel).map((key) => ({
      ...{ kind: "openai-compatible", base_url: own.replace(/\/chat\/completions$/, "") },
      api_key: key,
    }));
  }
  const type = channelTypes[number];
  if (type === undefined || (type.kind === "openai-compatible" && own === null && type.address === "")) {
    notes.add(label, `Sluice has no provider type for channels of type ${number}`);
    return [];
  }
  const standard = providerKind(type.kind)?.baseUrl ?? null;
  const path = own !== null && URL.parse(own)?.pathname === "/" ? (type.path ?? "") : "";
  const address = own === null ? (type.address ?? null) : `${own}${path}`;
  // A server that only speaks OpenAI's protocol.
  const kind = type.kind === "openai" && own !== null && address !== standard ? "openai-compatible" : type.kind;
  const place = address === null || address === standard ? {} : { base_url: address };
  return keysOf(channel).flatMap((key): Account[] => {
    if (kind === "bedrock") return awsAccount(key, label, notes);
    const settings = settingsOf(kind, channel, key);
    return [{ kind, ...place, api_key: key, ...(Object.keys(settings).length === 0 ? {} : { settings }) }];
  });
}

/** Several keys are lines, or a JSON list; one JSON object is the key of a service account. */
function keysOf(channel: Loose): readonly string[] {
  const text = (textIn(channel, "key") ?? "").trim();
  if (text.startsWith("{")) return [text];
  if (text.startsWith("[")) {
    try {
      const list: unknown = JSON.parse(text);
      if (Array.isArray(list)) return list.map((each) => (typeof each === "string" ? each : JSON.stringify(each)));
    } catch {
      return [text];
    }
  }
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** `access key|secret key|region`, or `API key|region`. */
function awsAccount(key: string, label: string, notes: Notes): Account[] {
  const parts = key.split("|");
  const region = parts.at(-1) ?? "";
  const [one = "", other = ""] = parts;
  if (parts.length === 3) {
    return [{ kind: "bedrock", settings: { region, access_key_id: one, secret_access_key: other } }];
  }
  if (parts.length === 2) return [{ kind: "bedrock", api_key: one, settings: { region } }];
  notes.add(label, "its key does not contain a region");
  return [];
}

function settingsOf(kind: string, channel: Loose, key: string): Readonly<Record<string, string>> {
  const other = textIn(channel, "other");
  if (kind === "azure-openai") return other === null ? {} : { api_version: other };
  if (kind !== "vertex") return {};
  const regions = objectIn(channel, "other");
  const location = textIn(regions, "default") ?? (other?.startsWith("{") === true ? null : other);
  const account = objectIn({ key }, "key");
  const project = textIn(account, "project_id");
  return { ...(project === null ? {} : { project }), ...(location === null ? {} : { location }) };
}

/** `a,b`. */
export function namesIn(row: Loose, name: string): readonly string[] {
  return (textIn(row, name) ?? "")
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

/** Ratio 1 is 2 USD for a million input tokens. */
const usdOfRatio = 2;

function pricesIn({ tables, listPrice }: NewApiInput, notes: Notes) {
  const options = new Map(tables.options.map((row) => [textIn(row, "key"), objectIn(row, "value")]));
  const option = (name: string): Loose => options.get(name) ?? {};
  const [ratios, completions, reads, writes, calls] = [
    ...[
      option("ModelRatio"),
      option("CompletionRatio"),
      option("CacheRatio"),
      option("CreateCacheRatio"),
      option("ModelPrice"),
    ],
  ] as [Loose, Loose, Loose, Loose, Loose];
  for (const [group, ratio] of Object.entries(option("GroupRatio"))) {
    if (ratio !== 1) notes.add(`GroupRatio ${group}`, "all groups have the same prices");
  }
  return ({ model, kind, pricedAs, deployment }: Offer): Pick<ImportedModel, "price" | "price_origin"> | null => {
    const call = numberIn(calls, model);
    if (call !== null) return { price: { request: rounded(call * 1_000) } };
    const listed = listPrice(pricedAs, deployment.upstream_model ?? model) ?? listPrice(pricedAs, model);
    const ratio = numberIn(ratios, model);
    if (ratio === null) {
      if (listed === null) return null;
      return { price: listed, ...(pricedAs === kind ? { price_origin: "price_list" } : {}) };
    }
    const input = ratio * usdOfRatio;
    const output = numberIn(completions, model);
    const read = numberIn(reads, model);
    const write = numberIn(writes, model);
    const price: PriceConfig = { input: rounded(input) };
    if (output !== null) price.output = rounded(input * output);
    else if (listed?.output !== undefined) price.output = listed.output;
    else {
      notes.add(
        `price of model ${model}`,
        "it has a ratio, but neither a completion ratio nor an entry in the price list",
      );
      return null;
    }
    if (read !== null) price.cache_read = rounded(input * read);
    if (write !== null) price.cache_write_5m = rounded(input * write);
    return { price };
  };
}

function rounded(usd: number): number {
  return Number(usd.toPrecision(12));
}
