import type { ForwardedEndpoint } from "../forwarding-suite.ts";

export const completionsEndpoint: ForwardedEndpoint = {
  path: "/v1/completions",
  endpoint: "completions",
  type: "completion",
  price: { input: 1, output: 2 },
  body: { prompt: "def fib of n", suffix: "print it", max_tokens: 5 },
  invalidBodies: [
    ["a call without a prompt", {}, "prompt"],
    ["a prompt that is an object", { prompt: {} }, "prompt"],
    ["a stream that is not a boolean", { prompt: "x", stream: "yes" }, "stream"],
  ],
  usage: { inputUncached: 6, output: 5 },
  usageWhenLost: { inputUncached: 6, output: 0 },
  invalidAnswer: { malformed: true },
};
