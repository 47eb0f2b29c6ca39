import type { ForwardedEndpoint } from "../forwarding-suite.ts";

export const speechEndpoint: ForwardedEndpoint = {
  path: "/v1/audio/speech",
  endpoint: "speech",
  type: "speech",
  price: { character: 15 },
  body: { input: "héllo 🎉 there", voice: "alloy", speed: 1.25 },
  invalidBodies: [
    ["a call without an input", { voice: "alloy" }, "input"],
    ["an input that is not text", { input: ["x"] }, "input"],
    ["a model that is not text", { input: "x", model: 1 }, "model"],
  ],
  // A character with two UTF-16 code units counts once.
  usage: { characters: 13 },
  usageWhenLost: { characters: 13 },
};
