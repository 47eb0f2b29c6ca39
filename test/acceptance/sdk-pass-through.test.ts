import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import type { ConfigFile } from "@sluice/contract";
import OpenAI, { toFile } from "openai";
import { until } from "../until.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys, model, testConfig, testPrice } from "./test-config.ts";

const providers = ["openai", "anthropic"];

function configure(simulatorUrl: string): ConfigFile {
  const account = { base_url: simulatorUrl, api_key: "sk-account-0123456789", allow_private_network: true };
  const base = testConfig(simulatorUrl);
  return {
    ...base,
    providers: [
      { id: "openai", kind: "openai", ...account },
      { id: "anthropic", kind: "anthropic", ...account },
    ],
    models: [
      model("our-gpt", [{ provider: "openai", upstream_model: "gpt-x" }]),
      model("our-claude", [{ provider: "anthropic", upstream_model: "claude-sonnet-4-5" }]),
    ],
    workspaces: [
      {
        slug: "acme",
        pass_through: providers,
        groups: [{ name: "default", pass_through: providers }],
        keys: [
          { name: "main", secret: keys.main, pass_through: providers },
          { name: "narrow", secret: keys.narrow },
        ],
      },
    ],
  };
}

let setup: TestSetup;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  setup = await openSetup(configure);
  const base = `${setup.gateway.url}/v1/providers`;
  openai = new OpenAI({ baseURL: `${base}/openai/v1`, apiKey: keys.main, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: `${base}/anthropic`, apiKey: keys.main, maxRetries: 0 });
});
afterAll(() => setup?.close());

/** USD spent by the key per model, once all calls are recorded. */
async function spent(): Promise<Readonly<Record<string, number>>> {
  const answer = await fetch(`${setup.gateway.url}/v1/usage`, { headers: { authorization: `Bearer ${keys.main}` } });
  // The endpoint is rate limited, so the caller tries again later.
  if (answer.status === 429) return {};
  if (!answer.ok) throw new Error(`could not read the usage: ${answer.status} ${await answer.text()}`);
  const { data } = (await answer.json()) as { data: readonly { model: string; cost_usd: number }[] };
  return Object.fromEntries(data.map((row) => [row.model, row.cost_usd]));
}

test("OpenAI's client uploads, uses and deletes files at the provider account", async () => {
  const file = await openai.files.create({
    file: await toFile(Buffer.alloc(300_000, "x"), "train.jsonl"),
    purpose: "fine-tune",
  });
  expect(file).toMatchObject({ object: "file", bytes: 300_000, filename: "train.jsonl", purpose: "fine-tune" });
  expect((await Array.fromAsync(openai.files.list())).map(({ id }) => id)).toContain(file.id);
  const job = await openai.fineTuning.jobs.create({ model: "gpt-x", training_file: file.id });
  expect((await Array.fromAsync(openai.fineTuning.jobs.list())).map(({ id }) => id)).toEqual([job.id]);
  expect(await openai.files.delete(file.id)).toMatchObject({ deleted: true });
  expect(
    await openai.files.retrieve(file.id).then(
      () => null,
      (thrown: unknown) => (thrown instanceof OpenAI.NotFoundError ? thrown.message : thrown),
    ),
  ).toContain("No such File object");
});

test("a streamed chat with OpenAI's client ends with usage and is charged at the model's price", async () => {
  const stream = await openai.chat.completions.create({
    model: "gpt-x",
    messages: [{ role: "user", content: "Say hello to everyone" }],
    stream: true,
    stream_options: { include_usage: true },
  });
  let usage: OpenAI.CompletionUsage | null = null;
  for await (const chunk of stream) usage = chunk.usage ?? usage;
  if (usage === null) throw new Error("the stream had no usage");
  const usd = (usage.prompt_tokens * testPrice.input + usage.completion_tokens * testPrice.output) / 1e6;
  const charged = await until(async () => (await spent())["our-gpt"]);
  expect(charged).toBeCloseTo(usd, 8);
});

test("Anthropic's client creates messages, streams and counts tokens at the provider account", async () => {
  const request = {
    model: "claude-sonnet-4-5",
    max_tokens: 64,
    messages: [{ role: "user" as const, content: "Say hello" }],
  };
  const whole = await anthropic.messages.create(request);
  expect(whole.usage.output_tokens).toBeGreaterThan(0);
  const streamed = await anthropic.messages.stream(request).finalMessage();
  expect(streamed.content.length).toBeGreaterThan(0);
  expect(
    (await anthropic.messages.countTokens({ model: request.model, messages: request.messages })).input_tokens,
  ).toBeGreaterThan(0);
  expect((await Array.fromAsync(anthropic.models.list())).length).toBeGreaterThan(0);
  expect(await until(async () => (await spent())["our-claude"])).toBeGreaterThan(0);
});

test("a key without the grant gets a NotFoundError of each client", async () => {
  const errorOf = (call: PromiseLike<unknown>) =>
    call.then(
      () => null,
      (thrown: unknown) => thrown,
    );
  expect(await errorOf(openai.withOptions({ apiKey: keys.narrow }).files.list())).toBeInstanceOf(OpenAI.NotFoundError);
  const claude = await errorOf(anthropic.withOptions({ apiKey: keys.narrow }).models.list());
  expect(claude).toBeInstanceOf(Anthropic.NotFoundError);
});
