import { modelTypes } from "@sluice/contract/words";
import { defineKind } from "../define-kind.ts";
import type { StarterModel } from "../kind.ts";
import {
  chat,
  countTokens,
  geminiCountTokens,
  geminiDecisions,
  generate,
  inputTokens,
  interactions,
  messages,
  nonChatLanes,
  responses,
  responsesCompact,
} from "../standard-lanes.ts";
import { webUrl } from "../video/answers.ts";
import { arkVideo } from "../video/ark.ts";

/** One starter model per type. */
const starters: readonly StarterModel[] = modelTypes.map((type) => ({
  name: type === "chat" ? "demo" : `demo-${type}`,
  type,
}));

/** The in-process simulator: answers without any provider. It accepts the key headers of every vendor it simulates. */
export const demo = defineKind({
  id: "demo",
  title: "Built-in demo",
  baseUrl: "demo://simulator/v1",
  apiKey: "none",
  baseUrlHelp: "The demo runs inside the gateway.",
  // Headers that control the simulator.
  callerHeaders: ["x-sim-*"],
  lanes: [
    chat,
    responses,
    responsesCompact,
    inputTokens,
    messages,
    countTokens,
    generate,
    interactions,
    geminiDecisions,
    geminiCountTokens,
    ...nonChatLanes,
  ],
  starterModels: starters,
  video: arkVideo({
    marks: true,
    addressOf: (value) => (typeof value === "string" && value.startsWith("demo://simulator/") ? value : webUrl(value)),
  }),
  authorize({ provider, headers }) {
    const key = provider.secret?.reveal() ?? "demo";
    headers["authorization"] = `Bearer ${key}`;
    headers["x-goog-api-key"] = key;
    headers["anthropic-version"] ??= "2023-06-01";
  },
});
