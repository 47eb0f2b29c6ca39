import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../until.ts";
import { exportLedger } from "./ledger-rows.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys, model, testConfig, upstreamKey } from "./test-config.ts";

const accounts = ["one", "two", "three"];
let setup: TestSetup;
beforeAll(async () => {
  setup = await openSetup((base_url) => {
    const account = { kind: "openai", base_url, api_key: upstreamKey, allow_private_network: true } as const;
    return {
      ...testConfig(base_url),
      providers: [
        { id: "openai", ...account },
        ...accounts.map((id) => ({ id, ...account, kind: "anthropic" as const, api_key: `sk-of-${id}` })),
      ],
      models: [
        model("gpt-test", [{ provider: "openai", upstream_model: "up-test" }]),
        model(
          "claude-test",
          accounts.map((provider) => ({ provider, upstream_model: "up-claude" })),
        ),
      ],
    };
  });
});
afterAll(() => setup?.close());

const headers = { authorization: `Bearer ${keys.main}`, "content-type": "application/json" };

/** Starts a streamed response, and kills and restarts the gateway as soon as the caller has received the response's id. */
async function killAfterResponseId(body: Readonly<Record<string, unknown>>): Promise<string> {
  const answer = await fetch(`${setup.gateway.url}/v1/responses`, {
    method: "POST",
    headers,
    body: JSON.stringify({ model: "gpt-test", stream: true, ...body }),
  });
  const reader = answer.body?.getReader();
  let text = "";
  let id: string | undefined;
  while (id === undefined) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) throw new Error(`the stream ended without an id: ${text}`);
    text += new TextDecoder().decode(piece.value);
    id = /"id":"(resp_[^"]+)"/.exec(text)?.[1];
  }
  await setup.gateway.kill9();
  await reader?.cancel().catch(() => undefined);
  await setup.gateway.restart();
  return id;
}

async function rowsOf(id: string) {
  return (await exportLedger(setup.gateway)).filter((row) => "upstream_id" in row && row.upstream_id === id);
}

test("after a kill of the gateway, a response can be read to its end and continued by its id", async () => {
  const id = await killAfterResponseId({ input: 'a long tale [[sim {"tokens":300,"event_ms":20}]]', background: true });
  const rest = await fetch(`${setup.gateway.url}/v1/responses/${id}?stream=true&starting_after=2`, { headers });
  expect([rest.status, (await rest.text()).includes("event: response.completed\n")]).toEqual([200, true]);
  const next = await fetch(`${setup.gateway.url}/v1/responses`, {
    method: "POST",
    headers,
    body: JSON.stringify({ model: "gpt-test", input: "go on", previous_response_id: id }),
  });
  expect(await next.json()).toMatchObject({ status: "completed", previous_response_id: id });
});

test("after a kill at the first event, the ledger has the id and the input of a streamed response", async () => {
  const id = await killAfterResponseId({ input: 'a long tale [[sim {"tokens":300,"event_ms":500}]]' });
  const rows = await rowsOf(id);
  expect(rows).toMatchObject([{ outcome: "interrupted", usage_source: "estimated" }]);
  expect(rows[0]?.input_uncached).toBeGreaterThan(0);
});

test("a background response is charged once with the upstream's usage, even if its gateway was killed and no client reads it", async () => {
  const script = JSON.stringify({ tokens: 33, event_ms: 20, background_ms: 20 });
  const id = await killAfterResponseId({ input: `a tale [[sim ${script}]]`, background: true });
  const rows = await until(async () => {
    const found = await rowsOf(id);
    return found.length > 0 ? found : null;
  });
  expect(rows).toMatchObject([{ outcome: "succeeded", usage_source: "upstream", output: 33 }]);
});

test("a message thread continues at its provider account after the gateway was killed", async () => {
  const send = (thread: object) =>
    fetch(`${setup.gateway.url}/v1/messages`, {
      method: "POST",
      headers: { ...headers, "anthropic-version": "2023-06-01", "anthropic-beta": "message-threads-2026-08-12" },
      body: JSON.stringify({
        model: "claude-test",
        max_tokens: 9,
        messages: [{ role: "user", content: "x" }],
        thread,
      }),
    });
  let thread: object = { type: "create" };
  let account: string | null = null;
  for (let turn = 0; turn < 4; turn++) {
    const answer = await send(thread);
    const { id } = (await answer.json()) as { readonly id: string };
    const provider = answer.headers.get("x-sluice-provider");
    expect([answer.status, provider]).toEqual([200, account ?? provider]);
    account = provider;
    thread = { type: "continue", previous_message_id: id };
    await setup.gateway.kill9();
    await setup.gateway.restart();
  }
});
