import type { Overrides } from "../../started-gateway.ts";
import { upstream } from "../../started-gateway.ts";

/** An Anthropic model with an account of type `anthropic`. */
export const claudeGateway: Overrides = {
  providers: (simulator) => [upstream("claude", simulator, { kind: "anthropic" })],
  models: [
    {
      name: "claude-test",
      deployments: [{ provider: "claude", upstream_model: "upstream-claude" }],
      price: { input: 3, cache_read: 0.3, cache_write_5m: 3.75, cache_write_1h: 6, output: 15 },
    },
  ],
};

export const version = { "anthropic-version": "2023-06-01" };

export const hi = {
  model: "claude-test",
  max_tokens: 64,
  messages: [{ role: "user", content: "Say hello to everyone" }],
};
