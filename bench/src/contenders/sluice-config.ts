import { benchModel, faultyModel, faultyUpstreamModel, imageModel, messagesModel } from "../call-request.ts";

/** What stands in the configuration beside what the bench asks for. */
export interface CatalogSize {
  readonly providers: number;
  /** Each is deployed on every provider. */
  readonly models: number;
  /** On how many of these providers the model that is asked for is deployed as well. */
  readonly askedOn: number;
}

export const benchKey = "sk-bench-0123456789abcdefghijklmnop";
/** A key whose limit is used up by its first request of a minute. */
export const limitedKey = "sk-bench-limited-0123456789abcdefgh";

export interface SluiceConfigOptions {
  readonly catalog: CatalogSize;
  /** How many calls of the group may run at once. */
  readonly concurrency: number;
  /** Without limits and budgets, and with a ledger that is not synced. */
  readonly bare: boolean;
  /** With the model whose first account fails in many ways. */
  readonly faulty: boolean;
}

/** Governed in every way, with limits that are high enough never to refuse. */
export function sluiceConfig(
  upstreamPort: number,
  { catalog, concurrency, bare, faulty }: SluiceConfigOptions,
): unknown {
  const rates = { rpm: 1_000_000_000, tpm: 1_000_000_000_000 };
  const others = Array.from({ length: catalog.providers }, (_, index) => `bench-${index + 1}`);
  return {
    providers: [
      { id: "bench", kind: "openai-compatible", ...account(upstreamPort) },
      { id: "bench-messages", kind: "anthropic", ...account(upstreamPort) },
      ...others.map((id) => ({ id, kind: "openai-compatible", ...account(upstreamPort) })),
      ...(faulty ? [{ id: "bench-faulty", kind: "openai-compatible", ...account(upstreamPort) }] : []),
    ],
    models: [
      model(benchModel, ["bench", ...others.slice(0, catalog.askedOn)], { name: "upstream-model-name" }),
      model(messagesModel, ["bench-messages"], { name: "upstream-model-name" }),
      model(imageModel, ["bench"], { name: "upstream-image-model", type: "image" }),
      ...(faulty ? [faultyEntry()] : []),
      ...Array.from({ length: catalog.models }, (_, index) => {
        const fallbacks = [`bench-other-${(index + 1) % catalog.models}`, benchModel];
        return model(`bench-other-${index}`, others, { name: `vendor/model-${index}`, fallbacks });
      }),
    ],
    workspaces: [
      {
        slug: "bench",
        ...(bare ? {} : { budget: { usd: 9_000_000, period: "month" } }),
        groups: [{ name: "default", models: ["bench-*"], ...(bare ? {} : { limits: { ...rates, concurrency } }) }],
        keys: [
          {
            name: "load",
            group: "default",
            secret: benchKey,
            ...(bare ? {} : { limits: rates, budget: { usd: 9_000_000, period: "day" } }),
          },
          { name: "limited", group: "default", secret: limitedKey, limits: { rpm: 1 } },
        ],
      },
    ],
    settings: { ledger: { durability: bare ? "process" : "disk" } },
  };
}

function account(upstreamPort: number) {
  return { base_url: `http://127.0.0.1:${upstreamPort}/v1`, api_key: "sk-upstream", allow_private_network: true };
}

/** Asked of the faulty account first, and of the good one where that can take its place. */
function faultyEntry() {
  const entry = model(faultyModel, ["bench"], { name: "upstream-model-name" });
  const faulty = { provider: "bench-faulty", upstream_model: faultyUpstreamModel, priority: 1 };
  return { ...entry, deployments: [faulty, ...entry.deployments.map((good) => ({ ...good, priority: 2 }))] };
}

interface ModelParts {
  /** As the upstream knows it. */
  readonly name: string;
  readonly type?: "chat" | "image";
  readonly fallbacks?: readonly string[];
}

function model(name: string, providers: readonly string[], parts: ModelParts) {
  return {
    name,
    type: parts.type ?? "chat",
    deployments: providers.map((provider) => ({ provider, upstream_model: parts.name })),
    price: { input: 0.01, cache_read: 0.001, output: 0.08 },
    ...(parts.fallbacks === undefined ? {} : { fallbacks: parts.fallbacks }),
  };
}
