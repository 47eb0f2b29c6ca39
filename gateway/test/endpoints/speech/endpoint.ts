import type { PassedEndpoint } from "../passed-suite.ts";

export const speechEndpoint: PassedEndpoint = {
  path: "/v1/audio/speech",
  endpoint: "speech",
  type: "speech",
  price: { character: 15 },
  body: { input: "héllo 🎉 there", voice: "alloy", speed: 1.25 },
  broken: [
    ["a call without an input", { voice: "alloy" }, "input"],
    ["an input that is no text", { input: ["x"] }, "input"],
    ["a model that is no text", { input: "x", model: 1 }, "model"],
  ],
  // A character that takes two units of UTF-16 is one.
  usage: { characters: 13 },
  lost: { characters: 13 },
};
