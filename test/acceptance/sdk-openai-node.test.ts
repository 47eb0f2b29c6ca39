import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { bareEnvironment } from "../bare-environment.ts";
import { until } from "../until.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys } from "./test-config.ts";

let setup: TestSetup;

beforeAll(async () => {
  setup = await openSetup();
});
afterAll(() => setup?.close());

const node = Bun.which("node");

// Skipped without Node. `npm test` itself needs Node, so there it always runs.
test.skipIf(node === null)("the official client works on Node: models, chat, streams, aborts and errors", async () => {
  const script = join(import.meta.dir, "node-calls.mjs");
  const child = Bun.spawn([node ?? "node", script, `${setup.gateway.url}/v1`, keys.main], {
    env: bareEnvironment(),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(err).toBe("");
  const result = JSON.parse(out);
  expect(Number(result.node.split(".")[0])).toBeGreaterThanOrEqual(20);
  expect(result).toMatchObject({
    models: ["gpt-impatient", "gpt-test"],
    retrieved: "gpt-test",
    whole: { text: " the quick brown", usage: { prompt_tokens: 2, completion_tokens: 3 } },
    streamed: " the quick brown",
    usage: { prompt_tokens: 2, completion_tokens: 3 },
    refusal: { name: "NotFoundError", status: 404, code: "model_not_found" },
  });
  expect(result.whole.request).toMatch(/^req_/);
  const record = await until(async () => {
    const { data } = await setup.simulator.truth();
    return data.find((record) => record.aborted_at !== null);
  });
  expect(record.terminal_sent).toBe(false);
});
