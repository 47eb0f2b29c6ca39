import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ConfigFile } from "@sluice/contract";
import { until } from "../until.ts";
import { chat, dechunk, errorOf, eventsOf, rawChat } from "./chat-call.ts";
import { expectedNanoUsd, exportLedger } from "./ledger-rows.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys, model, testConfig } from "./test-config.ts";

const limited = {
  rpm: "sk-acme-rpm-00000000000000001",
  told: "sk-acme-told-0000000000000001",
  tpm: "sk-acme-tpm-00000000000000001",
  two: "sk-acme-two-at-once-000000001",
  purse: "sk-acme-purse-000000000000001",
} as const;

function governed(url: string): ConfigFile {
  const config = testConfig(url);
  const [acme] = config.workspaces ?? [];
  if (acme === undefined) throw new Error("the test config has no workspace");
  return {
    ...config,
    workspaces: [
      {
        ...acme,
        keys: [
          ...(acme.keys ?? []),
          { name: "rpm", secret: limited.rpm, limits: { rpm: 3 } },
          { name: "told", secret: limited.told, limits: { rpm: 5 } },
          { name: "tpm", secret: limited.tpm, limits: { tpm: 500 } },
          { name: "two", secret: limited.two, limits: { concurrency: 2 } },
          { name: "purse", secret: limited.purse, budget: { usd: 0.0005, period: "day" } },
        ],
      },
    ],
  };
}

let setup: TestSetup;
let config: ConfigFile;

beforeAll(async () => {
  setup = await openSetup((url) => {
    config = governed(url);
    return config;
  });
});
afterAll(() => setup?.close());

const call = (key: string, tokens = 1, more: Record<string, unknown> = {}): Promise<Response> =>
  chat(setup.gateway.url, { key, script: { tokens }, more });

describe("limits", () => {
  test("requests per minute: exactly the limit is admitted, the rest is 429 and never reaches the upstream", async () => {
    await setup.simulator.clear();
    const beganAt = Date.now() / 1_000;
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(limited.rpm)));
    expect(answers.filter((answer) => answer.status === 200).length).toBe(3);
    expect((await setup.simulator.settled()).length).toBe(3);
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused.length).toBe(5);
    for (const answer of refused) {
      const wait = Number(answer.headers.get("retry-after"));
      expect(wait).toBeGreaterThan(0);
      // The window slides in steps of a second, so the wait may be one longer than the minute.
      expect(wait).toBeLessThanOrEqual(61);
      const error = await errorOf(answer);
      expect(error).toMatchObject({ code: "rate_limit_exceeded", type: "rate_limit_error", limit: 3, used: 3 });
      expect(error.scope).toContain("key acme/rpm");
      // Both say the same moment; the one counts from when it was said, which was after the calls began.
      expect((error.resets_at ?? 0) - wait).toBeWithin(Math.floor(beganAt), Date.now() / 1_000 + 2);
    }
  });

  test("tokens per minute: used up by what calls really used", async () => {
    const first = await call(limited.tpm, 480, { max_tokens: 480 });
    expect(first.status).toBe(200);
    await first.text();
    const second = await call(limited.tpm, 1, { max_tokens: 50 });
    expect(second.status).toBe(429);
    expect(await errorOf(second)).toMatchObject({ code: "rate_limit_exceeded", limit: 500 });
  });

  test("concurrency: the third at the same time is refused, and admitted once one has ended", async () => {
    const slow = { key: limited.two, stream: true, script: { tokens: 400, event_ms: 5 } };
    const leaving = new AbortController();
    const running = await Promise.all([chat(setup.gateway.url, slow), chat(setup.gateway.url, slow, leaving.signal)]);
    expect(running.map((answer) => answer.status)).toEqual([200, 200]);
    const third = await call(limited.two);
    expect(third.status).toBe(429);
    const error = await errorOf(third);
    expect(error).toMatchObject({ code: "rate_limit_exceeded", limit: 2, used: 2 });
    expect(error.scope).toContain("concurrency");
    leaving.abort();
    await until(async () => ((await call(limited.two)).status === 200 ? true : null));
    expect(await running[0]?.text()).toContain("[DONE]");
  });

  test("the caller's own limits are in the headers of its answers", async () => {
    for (const remaining of ["4", "3"]) {
      const answer = await call(limited.told);
      expect(answer.headers.get("x-ratelimit-limit-requests")).toBe("5");
      expect(answer.headers.get("x-ratelimit-remaining-requests")).toBe(remaining);
      expect(answer.headers.get("x-ratelimit-reset-requests")).toMatch(/^(\d+m)?[\d.]+m?s$/);
    }
  });

  test("a budget that is spent is 402 until its period ends, also after a kill -9 of the gateway", async () => {
    const expensive = await call(limited.purse, 800, { max_tokens: 800 });
    expect(expensive.status).toBe(200);
    await expensive.text();
    const refused = async (): Promise<void> => {
      const answer = await call(limited.purse, 800, { max_tokens: 800 });
      expect(answer.status).toBe(402);
      const error = await errorOf(answer);
      expect(error).toMatchObject({ code: "budget_exceeded", type: "insufficient_quota", limit: 0.0005 });
      expect(error.scope).toContain("key acme/purse");
      expect(error.used ?? 0).toBeCloseTo(0.00048, 5);
      const midnight = new Date();
      midnight.setUTCHours(24, 0, 0, 0);
      expect(error.resets_at).toBe(midnight.getTime() / 1000);
    };
    await refused();
    await setup.gateway.kill9();
    await setup.gateway.restart();
    await refused();
  });
});

describe("credentials", () => {
  const models = (headers: Record<string, string>): Promise<Response> =>
    fetch(`${setup.gateway.url}/v1/models`, { headers });

  test("are taken from either header, and refused when they are missing, unknown or contradict each other", async () => {
    expect((await models({ authorization: `Bearer ${keys.main}` })).status).toBe(200);
    expect((await models({ "x-api-key": keys.main })).status).toBe(200);
    expect((await models({ "x-api-key": keys.main, authorization: `Bearer ${keys.main}` })).status).toBe(200);
    const cases = [
      [{}, "invalid_api_key"],
      [{ authorization: "Bearer sk-unknown-unknown-unknown-1" }, "invalid_api_key"],
      [{ "x-api-key": keys.main, authorization: `Bearer ${keys.narrow}` }, "conflicting_credentials"],
    ] as const;
    for (const [headers, code] of cases) {
      const answer = await models(headers);
      expect(answer.status).toBe(401);
      expect((await errorOf(answer)).code).toBe(code);
    }
  });

  test("made and revoked on the command line work, and stop working", async () => {
    const made = await setup.gateway.cli(
      "key",
      "create",
      "--workspace",
      "acme",
      "--group",
      "default",
      "--name",
      "t",
      "--json",
    );
    expect(made.status, made.stderr).toBe(0);
    const key = JSON.parse(made.stdout) as { readonly id: string; readonly secret: string };
    expect(key.secret).toMatch(/^sk-sluice-/);
    const status = async (): Promise<number> => (await call(key.secret)).status;
    await until(async () => ((await status()) === 200 ? true : null));
    const revoked = await setup.gateway.cli("key", "revoke", key.id);
    expect(revoked.status, revoked.stderr).toBe(0);
    await until(async () => ((await status()) === 401 ? true : null));
    expect(await status()).toBe(401);
  });
});

describe("the config file", () => {
  const listed = async (): Promise<string[]> => {
    const answer = await fetch(`${setup.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${keys.main}` } });
    const { data } = (await answer.json()) as { readonly data: readonly { readonly id: string }[] };
    return data.map((one) => one.id);
  };
  const changed = (name: string): ConfigFile => ({
    ...config,
    models: [...(config.models ?? []), model(name, [{ provider: "sim" }])],
  });

  test("is read again when it changes, and calls that run meanwhile are not disturbed", async () => {
    const running = rawChat(setup.gateway.port, { stream: true, script: { tokens: 200, event_ms: 5 } });
    setup.gateway.writeConfig(changed("gpt-added"));
    await until(async () => ((await listed()).includes("gpt-added") ? true : null));
    expect((await chat(setup.gateway.url, { model: "gpt-added" })).status).toBe(200);
    expect(eventsOf(dechunk((await running).body)).at(-1)).toBe("[DONE]");
  });

  test("changes nothing when it is invalid, and says why", async () => {
    const before = await listed();
    setup.gateway.writeConfig('{"models": [{"name": "half", "deployments": [{"provider": "nobody"}]}]}');
    setup.gateway.reload();
    await until(() => (setup.gateway.output().includes("nobody") ? true : null));
    expect(await listed()).toEqual(before);
    expect((await call(keys.main)).status).toBe(200);
    setup.gateway.writeConfig("{ this is no JSON");
    setup.gateway.reload();
    expect((await call(keys.main)).status).toBe(200);
    setup.gateway.writeConfig(changed("gpt-again"));
    setup.gateway.reload();
    await until(async () => ((await listed()).includes("gpt-again") ? true : null));
    expect(await listed()).not.toContain("gpt-added");
  });
});

describe("the record", () => {
  test("has every attempt with exact tokens and cost, and every refusal at no cost", async () => {
    const tagged = await call(keys.main, 7);
    const request = tagged.headers.get("x-request-id");
    await tagged.text();
    const row = await until(async () => {
      const rows = await exportLedger(setup.gateway);
      return rows.find((one) => one.request_id === request) ?? null;
    });
    expect(row).toMatchObject({
      outcome: "succeeded",
      model: "gpt-test",
      provider: "sim",
      input_uncached: 2,
      cache_read: 0,
      output: 7,
      usage_source: "upstream",
      cost_nano_usd: expectedNanoUsd({ input_uncached: 2, cache_read: 0, output: 7 }),
    });
    const refusals = (await exportLedger(setup.gateway)).filter((one) => one.outcome === "rejected");
    expect(refusals.map((one) => one.error_code)).toContain("rate_limit_exceeded");
    expect(refusals.map((one) => one.error_code)).toContain("budget_exceeded");
    expect(refusals.every((one) => one.cost_nano_usd === 0 && one.usage_source === "none")).toBe(true);
    const verified = await setup.gateway.cli("ledger", "verify");
    expect(verified.status, verified.stderr).toBe(0);
  });

  test("holds each try of a call that was retried, the failed one at no cost", async () => {
    const script = { name: "governed", fail_first: 1, status: 500, tokens: 3 };
    const answer = await chat(setup.gateway.url, { script });
    expect(answer.status).toBe(200);
    const request = answer.headers.get("x-request-id");
    await answer.text();
    const tries = await until(async () => {
      const rows = (await exportLedger(setup.gateway)).filter((one) => one.request_id === request);
      return rows.length === 2 ? rows.toSorted((one, other) => one.retry_index - other.retry_index) : null;
    });
    expect(tries[0]).toMatchObject({ outcome: "failed", cost_nano_usd: 0, output: 0, retry_index: 0 });
    expect(tries[1]).toMatchObject({ outcome: "succeeded", output: 3, retry_index: 1 });
  });

  test("is what the key itself is told at GET /v1/usage", async () => {
    const answer = await fetch(`${setup.gateway.url}/v1/usage`, {
      headers: { authorization: `Bearer ${limited.purse}` },
    });
    expect(answer.status).toBe(200);
    expect(JSON.stringify(await answer.json())).toContain('"gpt-test"');
  });
});

test("SIGTERM: readiness fails, a live stream is finished, and the process ends with 0", async () => {
  const running = rawChat(setup.gateway.port, { stream: true, script: { tokens: 300, event_ms: 5 } });
  await until(async () => ((await setup.simulator.truth()).in_flight > 0 ? true : null));
  const stopped = setup.gateway.stop();
  const answer = await running;
  expect(eventsOf(dechunk(answer.body)).at(-1)).toBe("[DONE]");
  expect(await stopped).toBe(0);
  await setup.gateway.restart();
});
