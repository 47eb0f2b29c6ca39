import type { ConfigFile, ModelConfig, ProviderConfig } from "@sluice/contract";
import { defaultGroupName } from "@sluice/contract/words";
import type { Environment } from "#config/index.ts";
import { Secret } from "#core/index.ts";
import type { ControlStore, StoredWorkspace } from "#directory/index.ts";
import { keySecretBytes, makeKeySecret } from "#identity/index.ts";
import { type ProviderKind, priceListData, priceSource, providerKind } from "#providers/index.ts";

/** Who makes the installation's own first objects, in the audit log. */
export const firstStartActor = "first start";
const auditSource = { actor: firstStartActor, ip: null };

/** Provider keys of the environment, as the banner names them. */
export interface StarterProviders {
  /** They became providers at this start. */
  readonly found: readonly string[];
  /** They did not: there are providers already, and none of theirs. */
  readonly unused: readonly string[];
}

/**
 * A new installation works at once: provider keys in the environment become providers with the models that are
 * usual there; without any model, the built-in demo answers. So they do at a later start, as long as nobody has made
 * anything else. Nothing that exists is changed.
 */
export async function starterProviders(
  environment: Environment,
  store: ControlStore,
  now: number,
): Promise<StarterProviders> {
  const { config, found } = starterConfig(environment);
  const before = await store.configSnapshot();
  if (before.providers.size === 0 || found.length > 0) {
    const made = await store.seed(config, auditSource.actor);
    if (made.length > 0) {
      await takeStarterPrices(environment, store, now);
      return { found, unused: [] };
    }
  }
  const kinds = new Set([...before.providers.values()].map(({ kind }) => kind));
  const unused = environment.providerKeys.filter(({ kind }) => !kinds.has(kind)).map(({ envKey }) => envKey);
  return { found: [], unused };
}

/**
 * Makes the first key, when there is none, and gives its secret, which the store does not keep. To be called when it can be
 * shown for certain: with the port open. `told` puts it where it will be found, before there is such a key.
 */
export async function firstKey(
  store: ControlStore,
  randomBytes: (size: number) => Uint8Array,
  told: (secret: Secret) => void,
): Promise<Secret | null> {
  if (await store.hasKeys()) return null;
  const home = await firstWorkspace(store);
  const groups = await store.groups(home.id);
  const group = groups.find(({ name }) => name === defaultGroupName) ?? groups[0];
  const secret = new Secret(makeKeySecret(randomBytes(keySecretBytes)));
  told(secret);
  const key = { name: "first key", secret, createdBy: null, ...(group === undefined ? {} : { group: group.id }) };
  await store.addKey(home.id, key, auditSource);
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
      // Whoever sets a base URL in the environment is the operator, and may mean a machine of its own network.
      ...(key.baseUrl === null ? {} : { base_url: key.baseUrl, allow_private_network: true }),
    });
    models.push(...starterModels(kind));
  }
  // A provider whose models nobody can guess would leave a newcomer with nothing to call.
  if (models.length === 0) {
    const demo = providerKind("demo");
    if (demo !== null) {
      providers.push({ id: demo.id, kind: demo.id });
      models.push(...starterModels(demo));
    }
  }
  return { config: { providers, models }, found };
}

/** As from the price list, so that they follow it. */
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
