import type { Overrides, StartedGateway } from "../started-gateway.ts";
import { upstream } from "../started-gateway.ts";

/** Models of three vendors and one of a fourth without a dialect of its own: a conversation may move among them. */
export const movedGateway: Overrides = {
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

/** What the last attempt brought to the upstream, at full length. */
export function arrived(gateway: StartedGateway) {
  const seen = gateway.simulator.simulator.truth.list().data.at(-1);
  if (seen === undefined) throw new Error("nothing arrived");
  return { body: seen.received_body ?? "", query: seen.query, headers: seen.request_headers, dialect: seen.dialect };
}

/** A body in pieces, each of which is text that stays or, in a list, text that is to be cut. */
export function pieces(...texts: readonly (string | readonly [string])[]) {
  return {
    sent: texts.map((text) => (typeof text === "string" ? text : text[0])).join(""),
    kept: texts.filter((text) => typeof text === "string").join(""),
  };
}
