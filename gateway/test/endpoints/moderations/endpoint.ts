import type { PassedEndpoint } from "../passed-suite.ts";

export const moderationsEndpoint: PassedEndpoint = {
  path: "/v1/moderations",
  endpoint: "moderations",
  type: "moderation",
  price: { input: 0.1, request: 1 },
  body: { input: "a calm sentence of more than four bytes" },
  broken: [
    ["a call without an input", {}, "input"],
    ["a model that is no text", { input: "x", model: [] }, "model"],
  ],
  usage: { chargedRequests: 1 },
  lost: { chargedRequests: 1 },
  noAnswer: { body: "7" },
};
