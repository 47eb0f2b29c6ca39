import { generateKeyPairSync } from "node:crypto";
import type { ConfigFile } from "@sluice/contract";
import { keys, type ModelEntry, model, testPrice, upstreamKey } from "../test-config.ts";

/** A kind of upstream: a column of the matrix. The simulator plays every kind. */
export interface Upstream {
  readonly name: string;
  /** The upstream's model name, with every kind of character that such names contain. */
  readonly upstreamModel: string;
  /** The provider entry of the config file, except for the fields that all providers share. */
  readonly provider: (origin: string) => Omit<ProviderEntry, "id" | "allow_private_network">;
}

type ProviderEntry = NonNullable<ConfigFile["providers"]>[number];

export const awsSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

export const matrixUpstreams: readonly Upstream[] = [
  {
    name: "chat",
    upstreamModel: "acme/chat-model",
    provider: (origin) => ({ kind: "openai-compatible", base_url: `${origin}/v1`, api_key: upstreamKey }),
  },
  {
    name: "ark",
    upstreamModel: "seed-sim-250615",
    provider: (origin) => ({
      kind: "ark",
      base_url: `${origin}/api/v3`,
      api_key: upstreamKey,
      settings: { endpoints: ["chat"] },
    }),
  },
  {
    name: "responses",
    upstreamModel: "gpt-sim",
    provider: (origin) => ({
      kind: "openai",
      base_url: `${origin}/v1`,
      api_key: upstreamKey,
      settings: { endpoints: ["responses", "responses-compact"] },
    }),
  },
  {
    name: "azure",
    upstreamModel: "team-gpt",
    provider: (origin) => ({ kind: "azure-openai", base_url: origin, api_key: upstreamKey }),
  },
  {
    name: "anthropic",
    upstreamModel: "claude-sim-4-5",
    provider: (origin) => ({ kind: "anthropic", base_url: origin, api_key: upstreamKey }),
  },
  {
    name: "bedrock-claude",
    upstreamModel: "us.anthropic.claude-sim-4-5-v1:0",
    provider: bedrock,
  },
  {
    name: "bedrock-nova",
    upstreamModel: "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-sim-v1:0",
    provider: bedrock,
  },
  { name: "bedrock-gpt-oss", upstreamModel: "openai.gpt-oss-sim-1:0", provider: bedrock },
  {
    name: "gemini",
    upstreamModel: "gemini-3-sim",
    provider: (origin) => ({
      kind: "gemini",
      base_url: `${origin}/v1beta`,
      api_key: upstreamKey,
      settings: { endpoints: ["generate"] },
    }),
  },
  {
    name: "interactions",
    upstreamModel: "gemini-3-sim-steps",
    provider: (origin) => ({
      kind: "gemini",
      base_url: `${origin}/v1beta`,
      api_key: upstreamKey,
      settings: { endpoints: ["interactions"] },
    }),
  },
  { name: "vertex-gemini", upstreamModel: "gemini-2.5-sim", provider: vertex },
  { name: "vertex-claude", upstreamModel: "claude-sim-4-5@20260101", provider: vertex },
];

function bedrock(origin: string): ReturnType<Upstream["provider"]> {
  return {
    kind: "bedrock",
    base_url: origin,
    settings: { region: "us-east-1", access_key_id: "AKIAIOSFODNN7EXAMPLE", secret_access_key: awsSecret },
  };
}

function vertex(origin: string): ReturnType<Upstream["provider"]> {
  return {
    kind: "vertex",
    base_url: origin,
    api_key: JSON.stringify({
      type: "service_account",
      client_email: "sluice@tests.iam.gserviceaccount.example",
      private_key: servicePrivateKey,
      private_key_id: "key-1",
      token_uri: `${origin}/token`,
    }),
    settings: { project: "tests", location: "europe-west4" },
  };
}

const servicePrivateKey = generateKeyPairSync("rsa", {
  modulusLength: 2_048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
}).privateKey;

/** The public name of an upstream's model; every name has a slash. */
export function modelOn(upstream: Upstream, purpose = "main"): string {
  return `matrix/${upstream.name}/${purpose}`;
}

/**
 * A gateway with all upstreams. Calls that must fail use a separate model for each `purpose`, because a deployment that fails too
 * often is not used for a while.
 */
export function matrixConfig(simulatorUrl: string, purposes: readonly string[]): ConfigFile {
  const origin = new URL(simulatorUrl).origin;
  const models = matrixUpstreams.flatMap((upstream): ModelEntry[] =>
    ["main", ...purposes].map((purpose) =>
      model(modelOn(upstream, purpose), [{ provider: upstream.name, upstream_model: upstream.upstreamModel }], {
        price: { ...testPrice, cache_write_5m: 0.2505, cache_write_1h: 0.5005 },
      }),
    ),
  );
  return {
    providers: matrixUpstreams.map((upstream) => ({
      ...upstream.provider(origin),
      id: upstream.name,
      allow_private_network: true,
    })),
    models,
    workspaces: [{ slug: "acme", groups: [{ name: "default" }], keys: [{ name: "main", secret: keys.main }] }],
  };
}
