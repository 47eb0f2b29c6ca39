import type { Overrides } from "../../started-gateway.ts";
import { upstream } from "../../started-gateway.ts";

/** Embedding models of every provider type. A million tokens cost one dollar, so one token costs 1,000 nano-USD. */
export const embeddingGateway: Overrides = {
  providers: (simulator) => [
    upstream("openai", simulator),
    upstream("google", simulator, { kind: "gemini" }),
    upstream("vertex", simulator, { kind: "vertex", settings: { project: "proj" } }),
    upstream("aws", simulator, { kind: "bedrock", settings: { region: "us-east-1" } }),
  ],
  models: [
    ["openai", "openai", "text-embedding-3-small"],
    ["gemini", "google", "gemini-embedding-001"],
    ["vertex", "vertex", "text-embedding-005"],
    ["vertex-single", "vertex", "gemini-embedding-001"],
    ["vertex-content", "vertex", "gemini-embedding-2"],
    ["titan", "aws", "amazon.titan-embed-text-v2:0"],
    ["titan-1", "aws", "amazon.titan-embed-text-v1"],
    ["cohere", "aws", "us.cohere.embed-v4:0"],
    ["cohere-3", "aws", "cohere.embed-multilingual-v3"],
  ].map(([name = "", provider = "", upstream_model = ""]) => ({
    name: `embed/${name}`,
    type: "embedding",
    deployments: [{ provider, upstream_model }],
    price: { input: 1 },
  })),
};
