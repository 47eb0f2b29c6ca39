import type { ConfigFile, ModelEndpointRow } from "@sluice/contract";
import { type ModelEndpointId, modelEndpoints, type PriceMember } from "@sluice/contract/words";
import { keys, upstreamKey } from "../test-config.ts";
import { type DocumentedKind, documentedKinds, endpointsOf } from "./docs-table.ts";

/** One kind of upstream, or one family of models if a kind serves several APIs. The simulator plays every kind. */
export interface Column extends DocumentedKind {
  readonly name: string;
  /** Upstream model names for endpoints that need a particular one. */
  readonly models: Partial<Readonly<Record<ModelEndpointId, string>>>;
}

type Models = Column["models"];

const bedrockModels: Models = {
  embeddings: "amazon.titan-embed-text-v2:0",
  "embed-content": "amazon.titan-embed-text-v2:1",
  "batch-embed-contents": "amazon.titan-embed-text-v2:2",
  rerank: "amazon.rerank-v1:0",
};
const vertexModels: Models = {
  embeddings: "text-embedding-005",
  "embed-content": "text-embedding-006",
  "batch-embed-contents": "text-embedding-007",
};

/** More families among what the documentation calls "other models". */
const families: readonly (readonly [kind: string, name: string, models: Models])[] = [
  [
    "bedrock",
    "bedrock, Cohere",
    {
      embeddings: "us.cohere.embed-v4:0",
      "embed-content": "cohere.embed-v4:1",
      "batch-embed-contents": "cohere.embed-v4:2",
      rerank: "cohere.rerank-v3-5:0",
    },
  ],
  [
    "vertex",
    "vertex, Gemini embedder",
    {
      embeddings: "gemini-embedding-2",
      "embed-content": "gemini-embedding-3",
      "batch-embed-contents": "gemini-embedding-4",
    },
  ],
];

const ownModels: Readonly<Record<string, Models>> = {
  openai: { completions: "gpt-3.5-turbo-instruct" },
  mistral: { completions: "codestral-latest" },
  ark: { images: "doubao-seedream-4-5", "image-edits": "doubao-seedream-4-0" },
  byteplus: { images: "seedream-4-5", "image-edits": "seedream-4-0" },
};

/** One for each row of the documentation's table, so that a new row becomes a column here. */
export const columns: readonly Column[] = documentedKinds().flatMap((row): Column[] => {
  const { kind, family } = row;
  const first = { ...row, name: family === null ? kind : `${kind}, ${family}`, models: modelsOf(row) };
  const more = family === "other models" ? families.filter(([of]) => of === kind) : [];
  return [first, ...more.map(([, name, models]) => ({ ...row, name, models }))];
});

function modelsOf({ kind, family }: DocumentedKind): Models {
  if (family === "other models") return kind === "bedrock" ? bedrockModels : vertexModels;
  return ownModels[kind] ?? {};
}

/** The upstream's model name. Each cell has its own, so that scripts and recorded calls can be assigned to it. */
export function upstreamModel(column: Column, endpoint: ModelEndpointId): string {
  const preferred = column.models[endpoint];
  if (preferred !== undefined) return preferred;
  // Some kinds recognize embedding models by name, and must not take this for one.
  const purpose = endpoint.replaceAll("embed", "vector");
  if (column.family === "Claude models") return `${column.kind === "bedrock" ? "anthropic." : ""}claude-${purpose}`;
  return `${billedBySecond.has(`${column.kind} ${endpoint}`) ? "whisper-" : ""}${idOf(column)}-${purpose}`;
}

/** Models that bill audio by the second; others bill by tokens. */
const billedBySecond: ReadonlySet<string> = new Set([
  ...["groq", "vllm", "openai-compatible", "demo"].map((kind) => `${kind} transcriptions`),
  ...["openai", "azure-openai", "groq", "vllm", "openai-compatible", "demo"].map((kind) => `${kind} translations`),
]);

/** The model's name in the gateway. */
export function modelOf(column: Column, endpoint: ModelEndpointId): string {
  return `${idOf(column)}/${endpoint}`;
}

export function typeOf(endpoint: ModelEndpointId) {
  const { types }: ModelEndpointRow = modelEndpoints[endpoint];
  return types.at(-1) ?? "chat";
}

type Price = Readonly<Partial<Record<PriceMember, number>>>;

const tokens = { input: 0.1255, output: 0.6005 };
const vectors = { input: 0.1255 };
const pictures = { input: 0.1255, image_input: 5, image_output: 30, image: 0.04 };
const seconds = { audio_second: 0.0001 };

/** In USD, as vendors price such models. Token counting has a price per request, which must not be charged. */
const prices: Readonly<Partial<Record<ModelEndpointId, Price>>> = {
  "count-tokens": { ...tokens, request: 1 },
  "input-tokens": { ...tokens, request: 1 },
  "gemini-count-tokens": { ...tokens, request: 1 },
  embeddings: vectors,
  "embed-content": vectors,
  "batch-embed-contents": vectors,
  moderations: { request: 1 },
  decisions: { input: 0.1255 },
  "gemini-decisions": { input: 0.1255 },
  translations: seconds,
  speech: { character: 15 },
  images: pictures,
  "image-edits": pictures,
};

export function priceOf(column: Column, endpoint: ModelEndpointId): Price {
  if (endpoint === "rerank") return billedBySearch.has(column.kind) ? { search_unit: 2 } : vectors;
  if (endpoint !== "transcriptions") return prices[endpoint] ?? tokens;
  return upstreamModel(column, endpoint).includes("whisper") ? seconds : { audio_input: 6, output: 0.6005 };
}

/** Kinds that bill reranking by the search. */
const billedBySearch: ReadonlySet<string> = new Set(["cohere", "azure-openai", "bedrock"]);

/** The path of a kind's API on the simulator. */
const paths: Readonly<Record<string, string>> = {
  "azure-openai": "",
  anthropic: "",
  bedrock: "",
  vertex: "",
  gemini: "/v1beta",
  ark: "/api/v3",
  byteplus: "/api/v3",
  zhipu: "/api/paas/v4",
  dashscope: "/compatible-mode/v1",
  cohere: "/compatibility/v1",
};

const settings: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  // Offers completions only if the list names them.
  "azure-openai": { endpoints: endpointsOf("azure-openai") },
  bedrock: { region: "us-east-1" },
  vertex: { project: "tests", location: "europe-west4" },
};

/** A gateway with every kind as a provider and a model for every cell. */
export function endpointMatrixConfig(simulatorUrl: string, endpoints: readonly ModelEndpointId[]): ConfigFile {
  const { origin } = new URL(simulatorUrl);
  const accounts = columns.map(idOf);
  return {
    providers: columns.map((column) => ({
      id: idOf(column),
      kind: column.kind,
      base_url: `${origin}${paths[column.kind] ?? "/v1"}`,
      api_key: upstreamKey,
      allow_private_network: true,
      settings: { ...settings[column.kind], forward_headers: ["x-sim-*"] },
    })),
    models: columns.flatMap((column) =>
      endpoints.map((endpoint) => ({
        name: modelOf(column, endpoint),
        type: typeOf(endpoint),
        price: { ...priceOf(column, endpoint) },
        deployments: [{ provider: idOf(column), upstream_model: upstreamModel(column, endpoint) }],
      })),
    ),
    workspaces: [
      {
        slug: "acme",
        pass_through: accounts,
        groups: [{ name: "default", pass_through: accounts }],
        keys: [{ name: "main", secret: keys.main, pass_through: accounts }],
      },
    ],
  };
}

export function idOf(column: Column): string {
  return column.name.replaceAll(/[^a-z]+/gi, "-").toLowerCase();
}
