import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway } from "../../started-gateway.ts";
import { claudeGateway, hi, version } from "../messages/claude-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(claudeGateway);
});
afterAll(() => gateway.stop());

const row = (custom_id: unknown, params: unknown = hi) => ({ custom_id, params });

async function refused(body: unknown): Promise<string> {
  const answer = await gateway.post("/v1/messages/batches", body, { headers: version });
  const { type, error } = (await answer.json()) as { type: string; error: { type: string; message: string } };
  return `${answer.status} ${type} ${error?.type}: ${error?.message}`;
}

const cases: readonly (readonly [what: string, body: unknown, words: string])[] = [
  ["no rows", { requests: [] }, "no rows"],
  ["no list", {}, "requests: Field required"],
  ["another type of list", { requests: {} }, "valid list"],
  ["rows that are no objects", { requests: [1] }, "valid object"],
  ["no custom_id", { requests: [{ params: hi }] }, "custom_id"],
  ["an invalid custom_id", { requests: [row("a b")] }, "custom_id"],
  ["a custom_id that is no text", { requests: [row(7)] }, "custom_id"],
  ["no params", { requests: [{ custom_id: "a" }] }, "params"],
  ["a repeated custom_id", { requests: [row("a"), row("a")] }, "more than once"],
  ["two lists", '{"requests":[],"requests":[]}', "twice"],
  ["a cut body", '{"requests":[{"custom_id":"a"', "ended too early"],
  ["something behind the body", '{"requests":[]} {}', "follows"],
  ["missing commas", '{"requests":[] "other":1}', "comma"],
  ["text", '"requests"', "object"],
  ["a large other member", { other: "x".repeat(100_000), requests: [row("a")] }, "too long"],
];

test.each(cases)("refuses %s", async (_, body, words) => {
  const text = await refused(body);
  expect(text).toStartWith("400 error invalid_request_error: ");
  expect(text).toContain(words);
});

test("refuses a row that is too large, and another content type", async () => {
  expect(await refused({ requests: [row("a", { ...hi, system: "x".repeat(9 * 1024 * 1024) })] })).toStartWith("413 ");
  const form = await gateway.post("/v1/messages/batches", "a=1", {
    headers: { ...version, "content-type": "text/plain" },
  });
  expect(form.status).toBe(415);
});

test("leaves nothing held or stored", async () => {
  const { kysely } = gateway.control.database;
  expect(await kysely.selectFrom("batches").selectAll().execute()).toEqual([]);
  expect(await kysely.selectFrom("batch_rows").selectAll().execute()).toEqual([]);
  expect(gateway.gateway.outstanding()).toBe(0);
});
