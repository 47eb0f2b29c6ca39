import type { Overrides, StartedGateway } from "../started-gateway.ts";
import { upstream } from "../started-gateway.ts";

/** Models of three vendors, and one without a dialect of its own, between which a conversation can move. */
export const mixedVendorGateway: Overrides = {
  providers: (simulator) => [
    upstream("claude", simulator, { kind: "anthropic" }),
    upstream("gpt", simulator, { kind: "openai" }),
    upstream("google", simulator, { kind: "gemini" }),
    upstream("deep", simulator),
  ],
  models: [
    { name: "claude", deployments: [{ provider: "claude", upstream_model: "claude-sonnet-4-5" }] },
    { name: "gpt", deployments: [{ provider: "gpt", upstream_model: "gpt-5.1" }] },
    { name: "gem", deployments: [{ provider: "google", upstream_model: "gemini-3-pro" }] },
    { name: "old-gem", deployments: [{ provider: "google", upstream_model: "gemini-2.5-pro" }] },
    { name: "deep", deployments: [{ provider: "deep", upstream_model: "deepseek-v4" }] },
    {
      name: "claude-else-gpt",
      deployments: [
        { provider: "claude", upstream_model: "claude-sonnet-4-5", priority: 1 },
        { provider: "gpt", upstream_model: "gpt-5.1", priority: 2 },
      ],
    },
    {
      name: "gpt-else-claude",
      deployments: [
        { provider: "gpt", upstream_model: "gpt-5.1", priority: 1 },
        { provider: "claude", upstream_model: "claude-sonnet-4-5", priority: 2 },
      ],
    },
  ].map((model) => ({ ...model, price: { input: 1, output: 10 } })),
};

/** The last request that reached an upstream, with its whole body. */
export function lastUpstream(gateway: StartedGateway) {
  const request = gateway.simulator.simulator.truth.list().data.at(-1);
  if (request === undefined) throw new Error("no request reached an upstream");
  return {
    body: request.received_body ?? "",
    query: request.query,
    headers: request.request_headers,
    dialect: request.dialect,
  };
}

/** A body in pieces. A string stays in the expected body; a string in a list is expected to be removed. */
export function pieces(...texts: readonly (string | readonly [string])[]) {
  return {
    sent: texts.map((text) => (typeof text === "string" ? text : text[0])).join(""),
    expected: texts.filter((text) => typeof text === "string").join(""),
  };
}
