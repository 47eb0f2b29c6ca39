import { modelTypes } from "@sluice/contract/words";
import type { StarterModel } from "../kind.ts";
import { openaiLike } from "../openai-like.ts";
import {
  besideChat,
  chat,
  countTokens,
  geminiCountTokens,
  generate,
  inputTokens,
  messages,
  responses,
  responsesCompact,
} from "../standard-lanes.ts";
import { webUrl } from "../video/answers.ts";
import { arkVideo } from "../video/ark.ts";

/** One model of each type, so that each can be tried with one call. */
const starters: readonly StarterModel[] = modelTypes.map((type) => ({
  name: type === "chat" ? "demo" : `demo-${type}`,
  type,
}));

/**
 * The simulator inside this process: answers offline, so that a first call works without any provider. It plays vendors
 * that want a key, so it gets one for each of their headers.
 */
export const demo = openaiLike({
  id: "demo",
  title: "Built-in demo",
  baseUrl: "demo://simulator/v1",
  variable: null,
  apiKey: "none",
  baseUrlHelp: "Inside this process: nothing leaves it.",
  // How a call tells the simulator to behave.
  callerHeaders: ["x-sim-*"],
  lanes: [
    chat,
    responses,
    responsesCompact,
    inputTokens,
    messages,
    countTokens,
    generate,
    geminiCountTokens,
    ...besideChat,
  ],
  starterModels: starters,
  // Its files are in this process too.
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
