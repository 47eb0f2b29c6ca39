import { describe, expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { answers, asEquals, callAtOnce, callOnce, chatOf, countsOf, refuses, startAccounts } from "./accounts.ts";

describe.each([
  [429, null],
  [403, "permission_denied"],
  [404, "model_not_found"],
  [500, null],
  [503, null],
] as const)("a first account that refuses every call with %i", (status, code) => {
  test.each([false, true])(
    "loses none of a hundred simultaneous calls while a second account works (stream: %p)",
    async (stream) => {
      await using running = await startAccounts({ behaviors: [refuses(status, code), answers] });
      for (let round = 0; round < 2; round++) {
        const statuses = await callAtOnce(running.gateway, 100, chatOf("m", { stream }));
        expect([round, countsOf(statuses)]).toEqual([round, { 200: 100 }]);
      }
    },
  );
});

test("reports the rate limit of one account rather than the missing model of another", async () => {
  await using running = await startAccounts({ behaviors: [refuses(429), refuses(404, "model_not_found")] });
  expect(await callOnce(running.gateway, chatOf())).toBe(429);
});

test.each([
  ["rate_limit_exceeded", 200],
  ["request_too_large", 413],
] as const)("a 413 with the code %s returns %i if another account would serve the call", async (code, status) => {
  await using running = await startAccounts({ behaviors: [refuses(413, code), answers] });
  expect(await callOnce(running.gateway, chatOf())).toBe(status);
});

test("fallback models serve all calls of a model whose only account refuses", async () => {
  await using running = await startAccounts({
    behaviors: [refuses(429), answers],
    modelsOf: ([first = "", second = ""]) => [
      { name: "m", price: { input: 1 }, deployments: [{ provider: first }], fallbacks: ["spare"] },
      { name: "spare", price: { input: 1 }, deployments: [{ provider: second }] },
    ],
  });
  expect(countsOf(await callAtOnce(running.gateway, 50, chatOf()))).toEqual({ 200: 50 });
});

test("a failing model does not affect the failover of another model", async () => {
  const released = Promise.withResolvers<void>();
  await using running = await startAccounts({
    behaviors: [
      refuses(429),
      async (request, call) => {
        await released.promise;
        return await answers(request, call);
      },
      refuses(429),
      answers,
    ],
    modelsOf: (ids) =>
      ["x", "y"].map((name, at) => ({
        ...{ name, price: { input: 1 } },
        deployments: ids.slice(2 * at, 2 * at + 2).map((provider, index) => ({ provider, priority: index + 1 })),
      })),
  });
  const { gateway, accounts } = running;
  const slow = callAtOnce(gateway, 60, chatOf("x"));
  await until(() => accounts[1]?.bodies.length === 60);
  for (let call = 0; call < 20; call++) expect(await callOnce(gateway, chatOf("y"))).toBe(200);
  released.resolve();
  expect(countsOf(await slow)).toEqual({ 200: 60 });
});

test("serves every call when four of five equal accounts are at their limit, and rarely calls those four", async () => {
  const limited = refuses(429);
  await using running = await startAccounts({
    behaviors: [limited, limited, limited, limited, answers],
    modelsOf: asEquals,
  });
  const { gateway, accounts } = running;
  const statuses: number[] = [];
  for (let call = 0; call < 100; call++) statuses.push(await callOnce(gateway, chatOf()));
  expect(countsOf(statuses)).toEqual({ 200: 100 });
  // The cooldown of an account doubles with each refusal: one second, two, four …
  for (const { bodies } of accounts.slice(0, 4)) expect(bodies.length).toBeLessThan(20);
});
