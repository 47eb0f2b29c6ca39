import { expect, test } from "bun:test";
import { createBatchStore } from "#batches/index.ts";
import { batchRequestId } from "#core/index.ts";
import { until } from "../../../../test/until.ts";
import { spentUsd } from "../../background-fixture.ts";
import { ledgerEntry } from "../../conformance/store-fixture.ts";
import { aliceKey, startGateway, upstream } from "../../started-gateway.ts";
import { chatRow, clientOf, createBatch, ended } from "./batch-client.ts";
import { BatchVendor } from "./batch-vendor.ts";

test("budgets include rows of a vendor's batch that a process stored and did not count", async () => {
  const vendor = new BatchVendor();
  const gateway = await startGateway({
    providers: (simulator) => [
      upstream("main", simulator, { kind: "openai", base_url: vendor.url, settings: { batches: true } }),
    ],
    models: [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } }],
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 1, period: "total" } }],
  });
  try {
    const client = clientOf(gateway);
    const { id } = await createBatch(client, [chatRow("row-0"), chatRow("row-1")]);
    await until(() => vendor.batches.length === 1);
    // The counter has read the budget before the rows end. It has their worst case.
    expect(await spentUsd(gateway)).toBeLessThan(0.001);
    const store = createBatchStore(gateway.control);
    // Another process leases it, stores the ends of its rows, and is killed.
    const leased = await until(async () =>
      (await store.lease("proc_killed", Date.now() + 3_600_000, 60_000, 10)).find(({ batch }) => batch.id === id),
    );
    const { workspaceId, groupId, keyId } = leased.batch;
    const rows = await store.rowsAt(id, [0, 1]);
    const settled = rows.map(({ position, customId, start, bytes }) => ({
      ...{ position, customId, start, bytes, state: "succeeded" as const, httpStatus: 200, result: "{}" },
      ...{ costNanoUsd: 5_000_000, usage: null },
      entry: ledgerEntry(`${position}`, {
        requestId: batchRequestId(id, position),
        attemptId: batchRequestId(id, position).replace("req_", "att_"),
        ...{
          workspaceId,
          groupId,
          keyId,
          at: leased.batch.submittedAt ?? 0,
          costNanoUsd: 5_000_000,
          batchId: id,
          customId,
        },
      }),
    }));
    expect(await store.settleRows(leased, settled, 3, Date.now())).toHaveLength(2);
    await store.step(leased, { dueAt: Date.now() }, true);
    vendor.end();
    expect((await ended(client, id)).request_counts).toMatchObject({ completed: 2 });
    await until(() => gateway.gateway.outstanding() === 0);
    expect(await spentUsd(gateway)).toBeCloseTo(0.01, 9);
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});
