import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { claudeGateway, hi, version } from "./claude-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    ...claudeGateway,
    keys: [{ name: "alice", secret: aliceKey, limits: { rpm: 3, tpm: 1_000_000 } }],
  });
});
afterAll(() => gateway.stop());

const errorOf = async (response: Response) => (await response.json()) as { type: string; error: { type: string } };

test("returns 401, 404 and 405 with Anthropic's shape and types", async () => {
  const unknown = await gateway.post("/v1/messages", hi, { headers: version, key: "sk-unknown-0123456789abcdef" });
  expect([unknown.status, (await errorOf(unknown)).error.type]).toEqual([401, "authentication_error"]);
  const missing = await gateway.post("/v1/messages", { ...hi, model: "none" }, { headers: version });
  expect([missing.status, (await errorOf(missing)).error.type]).toEqual([404, "not_found_error"]);
  const wrong = await gateway.get("/v1/messages");
  expect([wrong.status, wrong.headers.get("allow"), (await errorOf(wrong)).type]).toEqual([405, "POST", "error"]);
});

test("returns limits in Anthropic's headers with RFC 3339 times, and Retry-After with a 429", async () => {
  const answers: Response[] = [];
  for (let call = 0; call < 4; call++) {
    answers.push(await gateway.post("/v1/messages", hi, { headers: version, script: { tokens: 1 } }));
  }
  const [first] = answers;
  const last = answers.at(-1);
  expect(first?.headers.get("anthropic-ratelimit-requests-limit")).toBe("3");
  expect(first?.headers.get("anthropic-ratelimit-requests-reset")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(first?.headers.get("anthropic-ratelimit-tokens-limit")).toBe("1000000");
  expect(first?.headers.get("x-ratelimit-limit-requests")).toBeNull();
  expect(last?.status).toBe(429);
  expect(Number(last?.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await (last?.json() ?? {})) as object).toMatchObject({ type: "error", error: { type: "rate_limit_error" } });
});
