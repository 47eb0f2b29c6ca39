import { expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { MovedClock } from "../moved-clock.ts";
import { answers, type Behavior, callOnce, chatOf, refuses, startAccounts } from "./accounts.ts";

test("lists the models of an account that was down before it sends a caller's call there", async () => {
  const failing = refuses(500);
  const clock = new MovedClock();
  const behavior = { lists: failing, chats: failing };
  const paths: string[] = [];
  const account: Behavior = (request, call) => {
    paths.push(new URL(request.url).pathname);
    return (request.method === "GET" ? behavior.lists : behavior.chats)(request, call);
  };
  await using running = await startAccounts({ behaviors: [account, answers], clock });
  const { gateway } = running;
  const pathsOf = async (calls: number): Promise<readonly string[]> => {
    const before = paths.length;
    for (let call = 0; call < calls; call++) expect(await callOnce(gateway, chatOf())).toBe(200);
    return paths.slice(before);
  };
  /** 2 is open. */
  const breaker = async (): Promise<string | undefined> =>
    /sluice_breaker_state\{.*provider="a0".*\} (\d)/.exec(await (await gateway.get("/metrics")).text())?.[1];
  await pathsOf(5);
  expect(await pathsOf(5)).toEqual([]);

  // The account does not answer, so no call is sent to it.
  clock.move(31_000);
  await pathsOf(1);
  await until(async () => (await breaker()) === "2");
  await pathsOf(9);
  expect(paths.slice(5)).toEqual(["/v1/models"]);

  // After a second failed list, a call probes the account.
  clock.move(61_000);
  expect(await pathsOf(2)).toEqual(["/v1/chat/completions"]);
  expect(await breaker()).toBe("2");

  // The account answers again, but its key may not list models: one call probes it, and then all calls return to it.
  behavior.lists = refuses(401);
  behavior.chats = answers;
  clock.move(121_000);
  await until(async () => (await pathsOf(1)).includes("/v1/chat/completions"));
  expect(paths.slice(-2)).toEqual(["/v1/models", "/v1/chat/completions"]);
  clock.move(31_000);
  expect(await pathsOf(5)).toHaveLength(5);
});
