import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { type EchoUpstream, startEchoUpstream } from "./echo-upstream.ts";
import { email, secret } from "./guardrail-fixture.ts";

let echo: EchoUpstream;
let gateway: StartedGateway;

beforeAll(async () => {
  echo = startEchoUpstream();
  gateway = await startGateway({
    providers: (simulator) =>
      (["openai", "anthropic", "gemini"] as const).map((kind) =>
        upstream(kind, simulator, { kind, base_url: echo.url }),
      ),
    models: ["openai", "anthropic", "gemini"].map((provider) => ({
      name: provider,
      deployments: [{ provider, upstream_model: `${provider}-model` }],
      price: { input: 1, output: 10 },
    })),
    guardrails: [
      { name: "keys", check: { kind: "credentials" }, action: "block" },
      { name: "mail", check: { kind: "personal_data", types: ["email"] }, action: "mask", on: ["input"] },
      { name: "iban", check: { kind: "personal_data", types: ["iban"] }, action: "mask", on: ["output"] },
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  echo.stop();
});
beforeEach(() => {
  echo.requests.length = 0;
  echo.pieces = null;
});

interface Endpoint {
  readonly path: (model: string, isStream: boolean) => string;
  readonly body: (model: string, text: string, isStream: boolean) => object;
  readonly headers?: Record<string, string>;
  /** The text of a whole answer, or of a stream's events. */
  readonly text: (answers: readonly never[]) => string;
}

const endpoints: Readonly<Record<string, Endpoint>> = {
  chat: {
    path: () => "/v1/chat/completions",
    body: (model, content, stream) => ({ model, stream, messages: [{ role: "user", content }] }),
    text: (answers: readonly { choices: { message?: { content: string }; delta?: { content?: string } }[] }[]) =>
      answers.map(({ choices }) => choices[0]?.message?.content ?? choices[0]?.delta?.content ?? "").join(""),
  },
  messages: {
    path: () => "/v1/messages",
    body: (model, content, stream) => ({ model, stream, max_tokens: 100, messages: [{ role: "user", content }] }),
    headers: { "anthropic-version": "2023-06-01" },
    text: (answers: readonly { content?: { text: string }[]; delta?: { text?: string } }[]) =>
      answers.map(({ content, delta }) => content?.[0]?.text ?? delta?.text ?? "").join(""),
  },
  responses: {
    path: () => "/v1/responses",
    body: (model, input, stream) => ({ model, stream, input }),
    text: (answers: readonly { type?: string; delta?: string; output?: { content: { text: string }[] }[] }[]) =>
      answers.map(({ delta, output }) => output?.[0]?.content[0]?.text ?? delta ?? "").join(""),
  },
  generate: {
    path: (model, isStream) =>
      `/v1beta/models/${model}:${isStream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: (_model, text) => ({ contents: [{ role: "user", parts: [{ text }] }] }),
    text: (answers: readonly { candidates: { content?: { parts?: { text?: string }[] } }[] }[]) =>
      answers.map(({ candidates }) => candidates[0]?.content?.parts?.[0]?.text ?? "").join(""),
  },
  interactions: {
    path: () => "/v1beta/interactions",
    body: (model, input, stream) => ({ model, stream, input }),
    text: (answers: readonly { steps?: { content: { text: string }[] }[]; delta?: { text?: string } }[]) =>
      answers.map(({ steps, delta }) => steps?.[0]?.content[0]?.text ?? delta?.text ?? "").join(""),
  },
};

const cases = Object.entries(endpoints).flatMap(([name, endpoint]) =>
  ["openai", "anthropic", "gemini"].flatMap((model) =>
    [false, true].map(
      (isStream) => [`${name} at ${model}, ${isStream ? "streamed" : "whole"}`, endpoint, model, isStream] as const,
    ),
  ),
);

async function call(endpoint: Endpoint, model: string, isStream: boolean, text: string) {
  const response = await gateway.post(endpoint.path(model, isStream), endpoint.body(model, text, isStream), {
    headers: endpoint.headers ?? {},
  });
  return { status: response.status, header: response.headers.get("x-sluice-guardrails"), body: await response.text() };
}

function textOf(endpoint: Endpoint, body: string): string {
  if (!body.includes("data: ")) return endpoint.text([JSON.parse(body) as never]);
  const events = body.split("\n").filter((line) => line.startsWith("data: {"));
  return endpoint.text(events.map((line) => JSON.parse(line.slice("data: ".length)) as never));
}

describe.each(cases)("%s", (_title, endpoint, model, isStream) => {
  test("refuses a request with a credential, which reaches no upstream", async () => {
    const { status, body } = await call(endpoint, model, isStream, `Use ${secret} now`);
    expect(status).toBe(400);
    expect(body).toContain("keys");
    expect(body).not.toContain(secret);
    expect(echo.requests).toEqual([]);
  });

  test("masks personal data for the upstream and restores it for the caller", async () => {
    echo.pieces = (body) => {
      const [placeholder = ""] = /‹EMAIL_[0-9A-Z]{8}›/.exec(body) ?? [];
      return ["Mail to ", placeholder.slice(0, 9), placeholder.slice(9), " now."];
    };
    const { status, header, body } = await call(endpoint, model, isStream, `Write to ${email}, please`);
    expect(status).toBe(200);
    expect(echo.requests).toHaveLength(1);
    expect(echo.requests[0]).not.toContain(email);
    expect(echo.requests[0]).toContain("‹EMAIL_");
    expect(textOf(endpoint, body)).toBe(`Mail to ${email} now.`);
    expect(header).toContain("mail=masked(1)");
  });

  test("keeps a credential in an answer from the caller", async () => {
    echo.pieces = () => ["It is ", secret.slice(0, 12), secret.slice(12), " indeed, and more."];
    const { status, body } = await call(endpoint, model, isStream, "Hello");
    expect(status).toBe(isStream ? 200 : 400);
    expect(body).not.toContain(secret);
    expect(body).not.toContain(secret.slice(12));
    expect(body).toContain("keys");
  });

  test("masks a value in an answer", async () => {
    echo.pieces = () => ["Pay to DE89 3704 ", "0044 0532 0130 00", " today."];
    const { body } = await call(endpoint, model, isStream, "Hello");
    expect(textOf(endpoint, body)).toMatch(/^Pay to ‹IBAN_[0-9A-Z]{8}› today\.$/);
    expect(body).not.toMatch(/DE89|0044 0532/);
  });
});
