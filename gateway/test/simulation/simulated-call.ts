import { modelNames, outputTokensMax } from "./call-simulation.ts";
import { seededChance } from "./seeded-chance.ts";

export type SimulatedEndpoint = "chat" | "messages" | "responses" | "generate";

/** One call of a caller. */
export interface SimulatedCall {
  readonly number: number;
  readonly seed: number;
  readonly key: number;
  readonly endpoint: SimulatedEndpoint;
  readonly model: string;
  readonly stream: boolean;
  readonly outputMax: number | null;
  readonly searches: boolean;
  readonly padding: number;
  /** The caller disconnects after this many milliseconds. null: it does not. */
  readonly disconnectsAfterMs: number | null;
  /** The caller pauses for this many milliseconds between reads. */
  readonly pauseMs: number;
}

export function simulatedCall(number: number, seed: number): SimulatedCall {
  const chance = seededChance(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance.unit() * list.length)] as T;
  return {
    number,
    seed,
    key: 1 + Math.floor(chance.unit() * 2),
    endpoint: pick(["chat", "messages", "responses", "generate"] as const),
    model: pick(modelNames),
    stream: chance.unit() < 0.65,
    // Never less than an answer's length, because a simulated upstream ignores the cap.
    outputMax: chance.unit() < 0.3 ? outputTokensMax + Math.floor(chance.unit() * 100) : null,
    searches: chance.unit() < 0.12,
    padding: chance.unit() < 0.3 ? Math.floor(chance.unit() * 1_500) : 0,
    disconnectsAfterMs: chance.unit() < 0.25 ? Math.floor(chance.unit() * 900) : null,
    pauseMs: chance.unit() < 0.1 ? 20 + Math.floor(chance.unit() * 300) : 0,
  };
}

export function targetOf({ endpoint, model, stream }: SimulatedCall): string {
  switch (endpoint) {
    case "chat":
      return "/v1/chat/completions";
    case "messages":
      return "/v1/messages";
    case "responses":
      return "/v1/responses";
    case "generate":
      return `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`;
  }
}

/** The text contains the call's number and seed, from which the upstream recognizes the call in any dialect. */
export function bodyOf({ number, seed, endpoint, model, stream, outputMax, searches, padding }: SimulatedCall): string {
  const text = `call ${number} seed ${seed} ${"x".repeat(padding)}`;
  const messages = [{ role: "user", content: text }];
  switch (endpoint) {
    case "chat":
      return JSON.stringify({
        model,
        messages,
        stream,
        ...(outputMax === null ? {} : { max_tokens: outputMax }),
        ...(searches ? { web_search_options: {} } : {}),
      });
    case "messages":
      return JSON.stringify({
        model,
        messages,
        stream,
        max_tokens: outputMax ?? outputTokensMax + 100,
        ...(searches ? { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 3 }] } : {}),
      });
    case "responses":
      return JSON.stringify({
        model,
        input: text,
        stream,
        ...(outputMax === null ? {} : { max_output_tokens: outputMax }),
        ...(searches ? { tools: [{ type: "web_search" }] } : {}),
      });
    case "generate":
      return JSON.stringify({
        contents: [{ role: "user", parts: [{ text }] }],
        ...(outputMax === null ? {} : { generationConfig: { maxOutputTokens: outputMax } }),
        ...(searches ? { tools: [{ googleSearch: {} }] } : {}),
      });
  }
}

/** How a stream of this endpoint ends when it is complete, and when it is not. */
export const streamEnds: Readonly<Record<SimulatedEndpoint, { readonly good: RegExp; readonly bad: RegExp }>> = {
  // Some vendors send no [DONE].
  chat: { good: /"finish_reason":"stop"/, bad: /"error"/ },
  messages: { good: /event: message_stop\n.*\n\n$/, bad: /event: error\n/ },
  responses: { good: /event: response\.completed\n.*\n\n$/, bad: /event: (response\.failed|error)\n/ },
  generate: { good: /"finishReason":"STOP"/, bad: /"error"/ },
};
