import type { ForwardedEndpoint } from "../forwarding-suite.ts";

export const moderationsEndpoint: ForwardedEndpoint = {
  path: "/v1/moderations",
  endpoint: "moderations",
  type: "moderation",
  price: { input: 0.1, request: 1 },
  body: { input: "a calm sentence of more than four bytes" },
  invalidBodies: [
    ["a call without an input", {}, "input"],
    ["a model that is not text", { input: "x", model: [] }, "model"],
  ],
  usage: { chargedRequests: 1 },
  usageWhenLost: { chargedRequests: 1 },
  invalidAnswer: { body: "7" },
};
