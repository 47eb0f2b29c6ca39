import type { ConfigFile, ModelConfig, ProviderConfig } from "@sluice/contract";
import { defaultGroupName } from "@sluice/contract/words";
import type { Environment } from "#config/index.ts";
import { Secret } from "#core/index.ts";
import type { ControlStore, StoredWorkspace } from "#directory/index.ts";
import { keySecretBytes, makeKeySecret } from "#identity/index.ts";
import { type ProviderKind, priceListData, priceSource, providerKind } from "#providers/index.ts";

/** Actor in the audit log for objects of a new installation. */
export const firstStartActor = "first start";
const auditSource = { actor: firstStartActor, ip: null };

/** Provider keys in the environment, for the banner. */
export interface StarterProviders {
  /** Keys that became providers. */
  readonly found: readonly string[];
  /** Unused keys, because providers exist already. */
  readonly unused: readonly string[];
}

/**
 * Creates providers with their usual models from provider keys in the environment, or the built-in demo if there are none. Changes
 * nothing once anything else was created.
 */
export async function starterProviders(
  environment: Environment,
  store: ControlStore,
  now: number,
): Promise<StarterProviders> {
  const { config, found } = starterConfig(environment);
  const before = await store.configSnapshot();
  if (before.providers.size === 0 || found.length > 0) {
    const created = await store.seed(config, auditSource.actor);
    if (created.length > 0) {
      await takeStarterPrices(environment, store, now);
      return { found, unused: [] };
    }
  }
  const kinds = new Set([...before.providers.values()].map(({ kind }) => kind));
  const unused = environment.providerKeys.filter(({ kind }) => !kinds.has(kind)).map(({ envKey }) => envKey);
  return { found: [], unused };
}

/** Creates the first key if there is none and returns its secret. `show` must display or save the secret before the key exists. */
export async function firstKey(
  store: ControlStore,
  randomBytes: (size: number) => Uint8Array,
  show: (secret: Secret) => void,
): Promise<Secret | null> {
  if (await store.hasKeys()) return null;
  const workspace = await firstWorkspace(store);
  const groups = await store.groups(workspace.id);
  const group = groups.find(({ name }) => name === defaultGroupName) ?? groups[0];
  const secret = new Secret(makeKeySecret(randomBytes(keySecretBytes)));
  show(secret);
  const key = { name: "first key", secret, createdBy: null, ...(group === undefined ? {} : { group: group.id }) };
  await store.addKey(workspace.id, key, auditSource);
  return secret;
}

async function firstWorkspace(store: ControlStore): Promise<StoredWorkspace> {
  const { data } = await store.workspaces({ ids: null }, null, 1);
  return data[0] ?? (await store.addWorkspace({ slug: "default", name: "Default" }, auditSource));
}

function starterConfig(environment: Environment): { readonly config: ConfigFile; readonly found: readonly string[] } {
  const found: string[] = [];
  const providers: ProviderConfig[] = [];
  const models: ModelConfig[] = [];
  for (const key of environment.providerKeys) {
    const kind = providerKind(key.kind);
    if (kind === null) continue;
    found.push(`${kind.title} (${key.envKey})`);
    providers.push({
      id: kind.id,
      kind: kind.id,
      api_key: key.apiKey.reveal(),
      // The operator sets the base URL, which may be in a private network.
      ...(key.baseUrl === null ? {} : { base_url: key.baseUrl, allow_private_network: true }),
    });
    models.push(...starterModels(kind));
  }
  // Some kinds have no usual models.
  if (models.length === 0) {
    const demo = providerKind("demo");
    if (demo !== null) {
      providers.push({ id: demo.id, kind: demo.id });
      models.push(...starterModels(demo));
    }
  }
  return { config: { providers, models }, found };
}

/** Takes prices from the price list, so that later updates apply to them. */
async function takeStarterPrices({ providerKeys }: Environment, store: ControlStore, now: number): Promise<void> {
  const source = priceSource((await priceListData(null)).data, now);
  const prices = providerKeys.flatMap(({ kind }) =>
    (providerKind(kind)?.starterModels ?? []).flatMap(({ name }) => {
      const price = source.price(kind, name);
      const next = source.nextPrice(kind, name);
      return [
        ...(price === null ? [] : [{ model: name, price, from: null }]),
        ...(next === null ? [] : [{ model: name, ...next }]),
      ];
    }),
  );
  if (prices.length > 0) await store.applyListPrices(prices, auditSource);
}

function starterModels(kind: ProviderKind): ModelConfig[] {
  return kind.starterModels.map((model) => ({
    name: model.name,
    ...(model.type === undefined ? {} : { type: model.type }),
    owned_by: kind.id,
    deployments: [{ provider: kind.id }],
    ...(kind.id === "demo" ? { price: { input: 0, output: 0 } } : {}),
  }));
}
