import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { until } from "../../../../test/until.ts";
import { startGateway } from "../../started-gateway.ts";
import { chatRow, clientOf, createBatch, ended, linesOf } from "./batch-client.ts";
import { rowGateway } from "./batch-gateway.ts";
import { RowUpstream } from "./row-upstream.ts";

let rows: RowUpstream;
beforeEach(() => {
  rows = new RowUpstream();
});
afterEach(() => rows.stop());

test("continues after a restart, and runs each row once", async () => {
  const first = await startGateway(rowGateway(rows));
  const { dataDir } = first;
  const rowList = Array.from({ length: 200 }, (_, n) =>
    chatRow(`row-${n}`, {}, { messages: [{ role: "user", content: `prompt ${n}` }] }),
  );
  const { id } = await createBatch(clientOf(first), rowList);
  await until(() => rows.total >= 30);
  await first.gateway.close();
  expect(rows.total).toBeLessThan(200);
  const second = await startGateway(rowGateway(rows, { environment: { dataDir } }));
  try {
    const client = clientOf(second);
    const done = await ended(client, id);
    expect(done.request_counts).toEqual({ total: 200, completed: 200, failed: 0 });
    expect([...rows.calls.values()].every((count) => count === 1)).toBe(true);
    expect(await linesOf(client, done.output_file_id)).toHaveLength(200);
    expect((await second.entries()).filter(({ batchId }) => batchId === id)).toHaveLength(200);
  } finally {
    await second.stop();
    first.simulator.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
