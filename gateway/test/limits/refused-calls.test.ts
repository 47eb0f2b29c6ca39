import { afterEach, expect, test } from "bun:test";
import { readEnvironment } from "#config/index.ts";
import type { LedgerEntry } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { openControl } from "../../src/main/control.ts";
import { aliceKey, hello, type StartedGateway, startGateway } from "../started-gateway.ts";

let gateway: StartedGateway;
afterEach(() => gateway.stop());

const dayMs = 86_400_000;
const rollups = () => gateway.control.database.kysely.selectFrom("usage_rollups").selectAll().execute();

test("600 calls over a limit, each with an invented model name, leave few rows and are all counted", async () => {
  gateway = await startGateway({ keys: [{ name: "alice", secret: aliceKey, limits: { rpm: 1 } }] });
  expect((await gateway.chat(hello, { script: { tokens: 2 } })).status).toBe(200);
  for (let batch = 0; batch < 12; batch++) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        gateway.chat(n % 2 === 0 ? hello : { ...hello, model: `mine-${batch}-${n}` }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429, 404]));
  }
  // The last second's count is written when the second has passed.
  const callsOf = ({ outcome, calls }: LedgerEntry) => (outcome === "rejected" ? (calls ?? 1) : 0);
  await until(async () => (await gateway.entries()).reduce((sum, entry) => sum + callsOf(entry), 0) === 600);
  expect((await gateway.entries()).length).toBeLessThan(200);
  const rows = await rollups();
  expect(new Set(rows.map(({ model }) => model))).toEqual(new Set(["gpt-test", "(unknown)"]));
  expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(601);
  expect((await gateway.control.ledgerStore.check()).faults).toEqual([]);
  const usage = await gateway.control.ledgerStore.usage({ from: Date.now() - dayMs, to: Date.now() + 1 });
  expect(usage.reduce((sum, { requests }) => sum + requests, 0)).toBe(601);
});

test("writes the counts of refusals when the gateway stops", async () => {
  gateway = await startGateway({ keys: [{ name: "alice", secret: aliceKey, limits: { rpm: 1 } }] });
  await Promise.all(Array.from({ length: 30 }, () => gateway.chat(hello)));
  await gateway.gateway.close();
  const control = await openControl(readEnvironment({ SLUICE_DATA_DIR: gateway.dataDir }));
  const { entries } = await control.ledgerStore.page({}, null, 1_000);
  expect(entries.reduce((sum, { calls }) => sum + (calls ?? 1), 0)).toBe(30);
  expect(entries.length).toBeLessThan(30);
  await control.close();
});
