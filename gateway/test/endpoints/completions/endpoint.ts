import type { PassedEndpoint } from "../passed-suite.ts";

export const completionsEndpoint: PassedEndpoint = {
  path: "/v1/completions",
  endpoint: "completions",
  type: "completion",
  price: { input: 1, output: 2 },
  body: { prompt: "def fib of n", suffix: "print it", max_tokens: 5 },
  broken: [
    ["a call without a prompt", {}, "prompt"],
    ["a prompt that is an object", { prompt: {} }, "prompt"],
    ["a stream that is no switch", { prompt: "x", stream: "yes" }, "stream"],
  ],
  usage: { inputUncached: 6, output: 5 },
  lost: { inputUncached: 6, output: 0 },
  noAnswer: { malformed: true },
};
