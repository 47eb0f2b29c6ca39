import { benchModel, faultyModel, faultyUpstreamModel, imageModel, messagesModel } from "../call-request.ts";

/** Size of the configuration in addition to the objects that the bench uses. */
export interface CatalogSize {
  readonly providers: number;
  /** Each is deployed on every provider. */
  readonly models: number;
  /** Number of these providers that also have a deployment of the requested model. */
  readonly sharedProviders: number;
}

export const benchKey = "sk-bench-0123456789abcdefghijklmnop";
/** A key with a limit of one request per minute. */
export const limitedKey = "sk-bench-limited-0123456789abcdefgh";
/** Like the first key, with two guardrails. */
export const guardedKey = "sk-bench-guarded-0123456789abcdefgh";

export interface SluiceConfigOptions {
  readonly catalog: CatalogSize;
  /** Concurrency limit of the group. */
  readonly concurrency: number;
  /** No limits and budgets, and a ledger without sync. */
  readonly bare: boolean;
  /** Include the model with a failing first account. */
  readonly faulty: boolean;
  /** Include the guarded key. */
  readonly guarded: boolean;
}

/** Every kind of limit and budget, high enough never to refuse a call. */
export function sluiceConfig(
  upstreamPort: number,
  { catalog, concurrency, bare, faulty, guarded }: SluiceConfigOptions,
): unknown {
  const rates = { rpm: 1_000_000_000, tpm: 1_000_000_000_000 };
  const limits = bare ? {} : { limits: { ...rates, concurrency } };
  const keyLimits = bare ? {} : { limits: rates, budget: { usd: 9_000_000, period: "day" } };
  const others = Array.from({ length: catalog.providers }, (_, index) => `bench-${index + 1}`);
  return {
    providers: [
      { id: "bench", kind: "openai-compatible", ...account(upstreamPort) },
      { id: "bench-messages", kind: "anthropic", ...account(upstreamPort) },
      ...others.map((id) => ({ id, kind: "openai-compatible", ...account(upstreamPort) })),
      ...(faulty ? [{ id: "bench-faulty", kind: "openai-compatible", ...account(upstreamPort) }] : []),
    ],
    models: [
      model(benchModel, ["bench", ...others.slice(0, catalog.sharedProviders)], { name: "upstream-model-name" }),
      model(messagesModel, ["bench-messages"], { name: "upstream-model-name" }),
      model(imageModel, ["bench"], { name: "upstream-image-model", type: "image" }),
      ...(faulty ? [faultyEntry()] : []),
      ...Array.from({ length: catalog.models }, (_, index) => {
        const fallbacks = [`bench-other-${(index + 1) % catalog.models}`, benchModel];
        return model(`bench-other-${index}`, others, { name: `vendor/model-${index}`, fallbacks });
      }),
    ],
    guardrails: guarded
      ? [
          { name: "credentials", check: { kind: "credentials" }, action: "block", groups: ["bench/guarded"] },
          { name: "personal-data", check: { kind: "personal_data" }, action: "mask", groups: ["bench/guarded"] },
        ]
      : [],
    workspaces: [
      {
        slug: "bench",
        ...(bare ? {} : { budget: { usd: 9_000_000, period: "month" } }),
        groups: ["default", ...(guarded ? ["guarded"] : [])].map((name) => ({ name, models: ["bench-*"], ...limits })),
        keys: [
          { name: "load", group: "default", secret: benchKey, ...keyLimits },
          ...(guarded ? [{ name: "guarded", group: "guarded", secret: guardedKey, ...keyLimits }] : []),
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

/** Uses the faulty account first, and the healthy one as failover. */
function faultyEntry() {
  const entry = model(faultyModel, ["bench"], { name: "upstream-model-name" });
  const faulty = { provider: "bench-faulty", upstream_model: faultyUpstreamModel, priority: 1 };
  return { ...entry, deployments: [faulty, ...entry.deployments.map((good) => ({ ...good, priority: 2 }))] };
}

interface ModelParts {
  /** Its name at the upstream. */
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
