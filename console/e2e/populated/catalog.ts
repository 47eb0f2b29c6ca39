import type { SignedInUser } from "../signed-in-user.ts";

/** Adds providers at the simulator and models of each type, one of them without a price. */
export async function addCatalog({ call }: SignedInUser, simulatorUrl: string): Promise<void> {
  const root = simulatorUrl.replace(/\/v1$/, "");
  const account = { allow_private_network: true, api_key: "sk-of-the-account-0123456789" };
  const providers = [
    { id: "openai-main", kind: "openai", base_url: simulatorUrl },
    { id: "openai-backup", kind: "openai-compatible", base_url: simulatorUrl },
    { id: "anthropic-main", kind: "anthropic", base_url: simulatorUrl },
    { id: "lab-cluster", kind: "openai-compatible", base_url: simulatorUrl },
    {
      id: "ark-films",
      kind: "ark",
      base_url: `${root}/api/v3`,
      settings: {
        access_key_id: "AKTESTEXAMPLE",
        secret_access_key: "SecretKeyExample==",
        openapi_url: `${root}/`,
      },
    },
    { id: "retired", kind: "openai-compatible", base_url: "https://models.example.com/v1", enabled: false },
  ];
  for (const provider of providers) await call("providers.create", { body: { ...account, ...provider } });
  for (const body of models) await call("models.create", { body });
}

const models = [
  {
    name: "gpt-5-mini",
    deployments: [{ provider: "openai-main" }],
    price: { input: 0.25, cache_read: 0.025, output: 2 },
  },
  {
    name: "gpt-5",
    deployments: [
      { provider: "openai-main", upstream_model: "gpt-5-2026-08", priority: 1 },
      { provider: "openai-backup", upstream_model: "gpt-5-backup", priority: 2 },
    ],
    price: { input: 1.25, cache_read: 0.125, output: 10 },
    fallbacks: ["gpt-5-mini"],
  },
  {
    name: "claude-sonnet",
    deployments: [{ provider: "anthropic-main", upstream_model: "claude-sonnet-4-6" }],
    price: { input: 3, cache_read: 0.3, cache_write_5m: 3.75, output: 15 },
  },
  { name: "research-preview", deployments: [{ provider: "lab-cluster", upstream_model: "preview-70b" }] },
  {
    name: "text-embedding",
    type: "embedding" as const,
    deployments: [{ provider: "openai-main" }],
    price: { input: 0.02 },
  },
  {
    name: "seedream",
    type: "image" as const,
    deployments: [{ provider: "ark-films", upstream_model: "doubao-seedream-4-0-250828" }],
    price: { image: 0.03 },
  },
  {
    name: "seedance",
    type: "video" as const,
    deployments: [{ provider: "ark-films", upstream_model: "doubao-seedance-2-0-260128" }],
    price: { output: 6 },
  },
];
