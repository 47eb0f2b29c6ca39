import { expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { MovedClock } from "../moved-clock.ts";
import { answers, type Behavior, callOnce, chatOf, refuses, startAccounts } from "./accounts.ts";

test("an account that was down is asked for its models before a caller's call goes there", async () => {
  const down = refuses(500);
  const clock = new MovedClock();
  const said = { lists: down, chats: down };
  const asked: string[] = [];
  const account: Behavior = (request, call) => {
    asked.push(new URL(request.url).pathname);
    return (request.method === "GET" ? said.lists : said.chats)(request, call);
  };
  await using running = await startAccounts({ behaviors: [account, answers], clock });
  const { gateway } = running;
  const since = async (calls: number): Promise<readonly string[]> => {
    const before = asked.length;
    for (let call = 0; call < calls; call++) expect(await callOnce(gateway, chatOf())).toBe(200);
    return asked.slice(before);
  };
  /** 2: open. */
  const breaker = async (): Promise<string | undefined> =>
    /sluice_breaker_state\{.*provider="a0".*\} (\d)/.exec(await (await gateway.get("/metrics")).text())?.[1];
  await since(5);
  expect(await since(5)).toEqual([]);

  // Its account does not answer: no call is spent on it.
  clock.move(31_000);
  await since(1);
  await until(async () => (await breaker()) === "2");
  await since(9);
  expect(asked.slice(5)).toEqual(["/v1/models"]);

  // A list that fails is not believed twice: a call probes the account.
  clock.move(61_000);
  expect(await since(2)).toEqual(["/v1/chat/completions"]);
  expect(await breaker()).toBe("2");

  // It answers, by a key that may not list models: one call probes it, and all of them come back.
  said.lists = refuses(401);
  said.chats = answers;
  clock.move(121_000);
  await until(async () => (await since(1)).includes("/v1/chat/completions"));
  expect(asked.slice(-2)).toEqual(["/v1/models", "/v1/chat/completions"]);
  clock.move(31_000);
  expect(await since(5)).toHaveLength(5);
});
