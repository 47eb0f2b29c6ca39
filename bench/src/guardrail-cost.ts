/**
 * `bun bench/src/guardrail-cost.ts [minutes]`: CPU time that guardrails add to a small call, for the whole process.
 *
 * One gateway has two keys; the calls of one are checked for credentials and personal data, as requests and as answers. It receives calls
 * of both in turn, forwards and then backwards. The difference between two samples of the first key shows the noise.
 */
import { loadavg } from "node:os";
import { callRequest } from "./call-request.ts";
import { endChildrenWithUs } from "./child.ts";
import { startSluice } from "./contenders/sluice.ts";
import { benchKey, guardedKey } from "./contenders/sluice-config.ts";
import { readOptions } from "./options.ts";
import { ProcessTime } from "./process-time.ts";
import { RawConnection } from "./raw-connection.ts";
import { startRun } from "./run.ts";
import { quantile } from "./statistics.ts";

const [minutes = 3] = process.argv.slice(2).map(Number);
const keys = { none: benchKey, "none again": benchKey, guarded: guardedKey };
type Variant = keyof typeof keys;
const variants = Object.keys(keys) as Variant[];
const sliceCalls = 1_024;
const connectionCount = 16;
const warmShare = 0.3;

endChildrenWithUs();
const run = await startRun(readOptions([]));
// The gateway has its own core.
Bun.spawnSync(["taskset", "-a", "-c", "-p", run.cores.load.join(","), String(process.pid)]);
try {
  const sluice = await startSluice(run, { guarded: true });
  const time = new ProcessTime(sluice.pid);
  const connections = await Promise.all(Array.from({ length: connectionCount }, () => RawConnection.open(sluice.port)));
  const requests = Object.fromEntries(
    variants.map((name) => [name, callRequest({ port: sluice.port, key: keys[name], bodyBytes: 1_024 })]),
  ) as Record<Variant, Buffer>;
  const samples: Record<Variant, number[]> = { none: [], "none again": [], guarded: [] };
  const startedAt = performance.now();
  const endsAt = startedAt + minutes * 60_000;
  for (let round = 0; performance.now() < endsAt; round++) {
    const isWarm = performance.now() > startedAt + (endsAt - startedAt) * warmShare;
    const order = variants.map((_, index) => variants[(index + round) % variants.length] as Variant);
    for (const name of [...order, ...order.toReversed()]) {
      const before = time.read().whole;
      await load(connections, requests[name]);
      if (isWarm) samples[name].push((time.read().whole - before) / sliceCalls);
    }
  }
  for (const name of variants) {
    const ratios = samples[name].map((spent, index) => spent / (samples.none[index] ?? Number.NaN));
    console.log(`${name}: ${median(samples[name]).toFixed(1)} µs a call, ${median(ratios).toFixed(2)} × none`);
  }
  console.log(`${samples.none.length} samples of ${sliceCalls} calls; load ${loadavg()[0]?.toFixed(1)}`);
  for (const connection of connections) connection.close();
  await sluice.stop();
} finally {
  await run.close();
}
process.exit();

function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((one, other) => one - other),
    0.5,
  );
}

async function load(connections: readonly RawConnection[], request: Buffer): Promise<void> {
  let left = sliceCalls;
  const work = async (connection: RawConnection): Promise<void> => {
    while (left-- > 0) {
      const { status } = await connection.exchange(request);
      if (status !== 200) throw new Error(`a call returned ${status}`);
    }
  };
  await Promise.all(connections.map(work));
}
