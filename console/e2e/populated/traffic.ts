import type { RunningSimulator, Script } from "@sluice/simulator";
import type { Tenants } from "./tenants.ts";

const questions = [
  "Summarize the incident report of last night in three sentences.",
  "Which of our suppliers ships to Norway?",
  "Write a unit test for the retry of the payment worker.",
  "Turn these notes into a changelog.",
  "Why does the build of the robot firmware fail on ARM?",
];

export interface Calls {
  /** Sends a model call and waits for the end of its response, also of an error. Resolves to the request id. */
  chat(key: string, model: string, more?: Readonly<Record<string, unknown>>): Promise<string>;
  post(key: string, path: string, body: unknown): Promise<Response>;
}

export function callsWith(url: string, { secrets }: Tenants): Calls {
  let chats = 0;
  const post = (key: string, path: string, body: unknown) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${secrets[key]}`,
        "user-agent": "acme-robot/2.4 (python 3.14)",
      },
      body: JSON.stringify(body),
    });
  return {
    post,
    chat: async (key, model, more = {}) => {
      const content = questions[chats++ % questions.length];
      const answer = await post(key, "/v1/chat/completions", { model, messages: [{ role: "user", content }], ...more });
      await answer.arrayBuffer();
      return answer.headers.get("x-request-id") ?? "";
    },
  };
}

/** Sends about forty requests: successful ones of each dialect and type, and every kind of failure. */
export async function sendTraffic(url: string, tenants: Tenants, { simulator }: RunningSimulator): Promise<string> {
  const { chat, post } = callsWith(url, tenants);
  const next = (model: string, script: Script, count = 1) => simulator.addPreset({ model, script, count });
  for (let round = 0; round < 6; round++) {
    next("gpt-5-2026-08", { latency_ms: 40 + round * 25, prompt_tokens: 900 + round * 700, tokens: 60 + round * 20 });
    await chat("checkout service", "gpt-5");
    next("gpt-5-mini", { prompt_tokens: 2_400, cached_tokens: 1_800, tokens: 90, event_ms: 2 });
    await chat("coding agents", "gpt-5-mini", { stream: true });
    next("claude-sonnet-4-6", { prompt_tokens: 5_200, tokens: 150, event_ms: 1 });
    await chat("coding agents", "claude-sonnet", { stream: true });
    await chat("notebook", "gpt-5-mini");
  }
  await chat("checkout service", "research-preview");
  await post("checkout service", "/v1/embeddings", { model: "text-embedding", input: ["a robot", "a boat"] });
  await post("film studio", "/v1/images/generations", { model: "seedream", prompt: "a paper boat", size: "2K" });
  // Failover: the first account is rate limited, the second one responds.
  next("gpt-5-2026-08", { status: 429, retry_after: 1 }, 3);
  const repeated = await chat("checkout service", "gpt-5", { stream: true });
  next("claude-sonnet-4-6", { cut_after_events: 4, tokens: 40 });
  await chat("coding agents", "claude-sonnet", { stream: true });
  next("gpt-5-mini", { status: 400, error_message: "This model's maximum context length is 128000 tokens." });
  await chat("checkout service", "gpt-5-mini");
  // Enough failures in a row to open its breaker.
  next("preview-70b", { status: 503, error_message: "The cluster is being drained." }, 40);
  for (let round = 0; round < 4; round++) await chat("checkout service", "research-preview");
  // Refused by the gateway: unknown model, model not allowed, rate limit, budget.
  await chat("checkout service", "gpt-6");
  await chat("support bot", "claude-sonnet");
  for (let round = 0; round < 5; round++) await chat("support bot", "gpt-5-mini");
  await chat("summer intern", "gpt-5-mini");
  simulator.clearPresets();
  return repeated;
}
