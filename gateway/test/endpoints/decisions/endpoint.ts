import type { ForwardedEndpoint } from "../forwarding-suite.ts";

const questions = [{ type: "predicate", instructions: "The parcel arrived." }];

export const decisionsEndpoint: ForwardedEndpoint = {
  path: "/v1/decisions",
  endpoint: "decisions",
  type: "decision",
  price: { input: 0.1 },
  body: { input: "The parcel arrived on Friday.", questions },
  invalidBodies: [
    ["a call without an input", { questions }, "input"],
    ["a call without questions", { input: "x" }, "questions"],
    ["questions in an object", { input: "x", questions: {} }, "questions"],
    ["a model that is not text", { input: "x", questions, model: [] }, "model"],
  ],
  usage: { inputUncached: 8 },
  usageWhenLost: { inputUncached: 23 },
  invalidAnswer: { body: "7" },
};
