import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ConfigFile } from "@sluice/contract";
import { until } from "../until.ts";
import { chat, dechunk, errorOf, eventsOf, rawChat } from "./chat-call.ts";
import { expectedNanoUsd, exportLedger } from "./ledger-rows.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys, model, testConfig } from "./test-config.ts";

const limitedKeys = {
  rpm: "sk-acme-rpm-00000000000000001",
  headers: "sk-acme-headers-0000000000001",
  tpm: "sk-acme-tpm-00000000000000001",
  two: "sk-acme-two-at-once-000000001",
  budget: "sk-acme-budget-00000000000001",
} as const;

function configWithLimits(url: string): ConfigFile {
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
          { name: "rpm", secret: limitedKeys.rpm, limits: { rpm: 3 } },
          { name: "headers", secret: limitedKeys.headers, limits: { rpm: 5 } },
          { name: "tpm", secret: limitedKeys.tpm, limits: { tpm: 500 } },
          { name: "two", secret: limitedKeys.two, limits: { concurrency: 2 } },
          { name: "budget", secret: limitedKeys.budget, budget: { usd: 0.0005, period: "day" } },
        ],
      },
    ],
  };
}

let setup: TestSetup;
let config: ConfigFile;

beforeAll(async () => {
  setup = await openSetup((url) => {
    config = configWithLimits(url);
    return config;
  });
});
afterAll(() => setup?.close());

const call = (key: string, tokens = 1, more: Record<string, unknown> = {}): Promise<Response> =>
  chat(setup.gateway.url, { key, script: { tokens }, more });

describe("limits", () => {
  test("requests per minute: admits exactly the limit; the rest gets 429 and never reaches the upstream", async () => {
    await setup.simulator.clear();
    const beganAt = Date.now() / 1_000;
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(limitedKeys.rpm)));
    expect(answers.filter((answer) => answer.status === 200).length).toBe(3);
    expect((await setup.simulator.settled()).length).toBe(3);
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused.length).toBe(5);
    for (const answer of refused) {
      const wait = Number(answer.headers.get("retry-after"));
      expect(wait).toBeGreaterThan(0);
      // The window slides in steps of one second, so the wait may be a second longer than a minute.
      expect(wait).toBeLessThanOrEqual(61);
      const error = await errorOf(answer);
      expect(error).toMatchObject({ code: "rate_limit_exceeded", type: "rate_limit_error", limit: 3, used: 3 });
      expect(error.scope).toContain("key acme/rpm");
      // Both name the same moment, but Retry-After counts from the time of the answer, which is after the calls began.
      expect((error.resets_at ?? 0) - wait).toBeWithin(Math.floor(beganAt), Date.now() / 1_000 + 2);
    }
  });

  test("tokens per minute: counts what calls actually used", async () => {
    const first = await call(limitedKeys.tpm, 480, { max_tokens: 480 });
    expect(first.status).toBe(200);
    await first.text();
    const second = await call(limitedKeys.tpm, 1, { max_tokens: 50 });
    expect(second.status).toBe(429);
    expect(await errorOf(second)).toMatchObject({ code: "rate_limit_exceeded", limit: 500 });
  });

  test("concurrency: refuses a third concurrent call, and admits it once another has ended", async () => {
    const slow = { key: limitedKeys.two, stream: true, script: { tokens: 400, event_ms: 5 } };
    const abort = new AbortController();
    const running = await Promise.all([chat(setup.gateway.url, slow), chat(setup.gateway.url, slow, abort.signal)]);
    expect(running.map((answer) => answer.status)).toEqual([200, 200]);
    const third = await call(limitedKeys.two);
    expect(third.status).toBe(429);
    const error = await errorOf(third);
    expect(error).toMatchObject({ code: "rate_limit_exceeded", limit: 2, used: 2 });
    expect(error.scope).toContain("concurrency");
    abort.abort();
    await until(async () => ((await call(limitedKeys.two)).status === 200 ? true : null));
    expect(await running[0]?.text()).toContain("[DONE]");
  });

  test("answers carry the caller's own limits in their headers", async () => {
    for (const remaining of ["4", "3"]) {
      const answer = await call(limitedKeys.headers);
      expect(answer.headers.get("x-ratelimit-limit-requests")).toBe("5");
      expect(answer.headers.get("x-ratelimit-remaining-requests")).toBe(remaining);
      expect(answer.headers.get("x-ratelimit-reset-requests")).toMatch(/^(\d+m)?[\d.]+m?s$/);
    }
  });

  test("returns 402 once a budget is spent, until its period ends, also after kill -9", async () => {
    const expensive = await call(limitedKeys.budget, 800, { max_tokens: 800 });
    expect(expensive.status).toBe(200);
    await expensive.text();
    const expectRefused = async (): Promise<void> => {
      const answer = await call(limitedKeys.budget, 800, { max_tokens: 800 });
      expect(answer.status).toBe(402);
      const error = await errorOf(answer);
      expect(error).toMatchObject({ code: "budget_exceeded", type: "insufficient_quota", limit: 0.0005 });
      expect(error.scope).toContain("key acme/budget");
      expect(error.used ?? 0).toBeCloseTo(0.00048, 5);
      const midnight = new Date();
      midnight.setUTCHours(24, 0, 0, 0);
      expect(error.resets_at).toBe(midnight.getTime() / 1000);
    };
    await expectRefused();
    await setup.gateway.kill9();
    await setup.gateway.restart();
    await expectRefused();
  });
});

describe("credentials", () => {
  const models = (headers: Record<string, string>): Promise<Response> =>
    fetch(`${setup.gateway.url}/v1/models`, { headers });

  test("are accepted in either header; returns 401 if they are missing, unknown or contradictory", async () => {
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

  test("created on the command line work, and stop working once revoked", async () => {
    const created = await setup.gateway.cli(
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
    expect(created.status, created.stderr).toBe(0);
    const key = JSON.parse(created.stdout) as { readonly id: string; readonly secret: string };
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
  const modelIds = async (): Promise<string[]> => {
    const answer = await fetch(`${setup.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${keys.main}` } });
    const { data } = (await answer.json()) as { readonly data: readonly { readonly id: string }[] };
    return data.map((row) => row.id);
  };
  const configWithModel = (name: string): ConfigFile => ({
    ...config,
    models: [...(config.models ?? []), model(name, [{ provider: "sim" }])],
  });

  test("is reloaded when it changes, without disturbing running calls", async () => {
    const running = rawChat(setup.gateway.port, { stream: true, script: { tokens: 200, event_ms: 5 } });
    setup.gateway.writeConfig(configWithModel("gpt-added"));
    await until(async () => ((await modelIds()).includes("gpt-added") ? true : null));
    expect((await chat(setup.gateway.url, { model: "gpt-added" })).status).toBe(200);
    expect(eventsOf(dechunk((await running).body)).at(-1)).toBe("[DONE]");
  });

  test("changes nothing if it is invalid, and the log names the problem", async () => {
    const before = await modelIds();
    setup.gateway.writeConfig('{"models": [{"name": "half", "deployments": [{"provider": "missing-provider"}]}]}');
    setup.gateway.reload();
    await until(() => (setup.gateway.output().includes("missing-provider") ? true : null));
    expect(await modelIds()).toEqual(before);
    expect((await call(keys.main)).status).toBe(200);
    setup.gateway.writeConfig("{ this is not JSON");
    setup.gateway.reload();
    expect((await call(keys.main)).status).toBe(200);
    setup.gateway.writeConfig(configWithModel("gpt-again"));
    setup.gateway.reload();
    await until(async () => ((await modelIds()).includes("gpt-again") ? true : null));
    expect(await modelIds()).not.toContain("gpt-added");
  });
});

describe("the ledger", () => {
  test("contains every attempt with exact tokens and cost, and every refusal at no cost", async () => {
    const answer = await call(keys.main, 7);
    const request = answer.headers.get("x-request-id");
    await answer.text();
    const row = await until(async () => {
      const rows = await exportLedger(setup.gateway);
      return rows.find((row) => row.request_id === request) ?? null;
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
    const refusals = (await exportLedger(setup.gateway)).filter((row) => row.outcome === "rejected");
    expect(refusals.map((row) => row.error_code)).toContain("rate_limit_exceeded");
    expect(refusals.map((row) => row.error_code)).toContain("budget_exceeded");
    expect(refusals.every((row) => row.cost_nano_usd === 0 && row.usage_source === "none")).toBe(true);
    const verified = await setup.gateway.cli("ledger", "verify");
    expect(verified.status, verified.stderr).toBe(0);
  });

  test("contains each attempt of a retried call, the failed one at no cost", async () => {
    const script = { name: "governed", fail_first: 1, status: 500, tokens: 3 };
    const answer = await chat(setup.gateway.url, { script });
    expect(answer.status).toBe(200);
    const request = answer.headers.get("x-request-id");
    await answer.text();
    const attempts = await until(async () => {
      const rows = (await exportLedger(setup.gateway)).filter((row) => row.request_id === request);
      return rows.length === 2 ? rows.toSorted((a, b) => a.retry_index - b.retry_index) : null;
    });
    expect(attempts[0]).toMatchObject({ outcome: "failed", cost_nano_usd: 0, output: 0, retry_index: 0 });
    expect(attempts[1]).toMatchObject({ outcome: "succeeded", output: 3, retry_index: 1 });
  });

  test("is reported to the key itself by GET /v1/usage", async () => {
    const answer = await fetch(`${setup.gateway.url}/v1/usage`, {
      headers: { authorization: `Bearer ${limitedKeys.budget}` },
    });
    expect(answer.status).toBe(200);
    expect(JSON.stringify(await answer.json())).toContain('"gpt-test"');
  });
});

test("SIGTERM: readiness fails, a running stream is completed, and the process exits with 0", async () => {
  const running = rawChat(setup.gateway.port, { stream: true, script: { tokens: 300, event_ms: 5 } });
  await until(async () => ((await setup.simulator.truth()).in_flight > 0 ? true : null));
  const stopped = setup.gateway.stop();
  const answer = await running;
  expect(eventsOf(dechunk(answer.body)).at(-1)).toBe("[DONE]");
  expect(await stopped).toBe(0);
  await setup.gateway.restart();
});
