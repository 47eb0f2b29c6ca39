import type { ConfigFile, ModelConfig, ProviderConfig } from "@sluice/contract";
import type { Environment } from "#config/index.ts";
import { Secret } from "#core/index.ts";
import { makeKeySecret } from "#identity/index.ts";
import type { ControlStore } from "#ports/index.ts";
import { type ProviderKind, priceOfStarter, providerKind } from "#providers/index.ts";

/** What a first start made, for the banner. The secret is shown once and kept nowhere. */
export interface FirstStart {
  readonly keySecret: Secret | null;
  readonly found: readonly string[];
}

/**
 * A new installation works at once: provider keys in the environment become providers with the models that are
 * usual there; without any model, the built-in demo answers. Then a first key. Nothing that exists is changed.
 */
export async function firstStart(
  environment: Environment,
  store: ControlStore,
  randomBytes: (size: number) => Uint8Array,
): Promise<FirstStart> {
  const catalog = await store.catalog();
  const found: string[] = [];
  if (catalog.providers.size === 0) {
    const config = starterConfig(environment, found);
    await store.seed(config, "first start");
  }
  if ((await store.listKeys(null)).length > 0) return { keySecret: null, found };
  const workspaces = await store.listWorkspaces();
  if (workspaces.length === 0) await store.createWorkspace("default", "Default", "first start");
  const home = workspaces[0] ?? { slug: "default", groups: ["default"] };
  const keySecret = new Secret(makeKeySecret(randomBytes(32)));
  await store.createKey(
    {
      workspace: home.slug,
      group: home.groups.includes("default") ? "default" : (home.groups[0] ?? "default"),
      name: "first key",
      secret: keySecret,
      expiresAt: null,
      models: null,
      allowedIps: null,
      limits: {},
      budget: null,
    },
    "first start",
  );
  return { keySecret, found };
}

function starterConfig(environment: Environment, found: string[]): ConfigFile {
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
  return { providers, models };
}

function starterModels(kind: ProviderKind): ModelConfig[] {
  return kind.starterModels.map((model) => ({
    name: model.name,
    owned_by: kind.id,
    deployments: [{ provider: kind.id }],
    price: priceOfStarter(model),
  }));
}
