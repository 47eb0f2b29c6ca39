import { startChild } from "./child.ts";
import type { Contender } from "./contender.ts";
import { within } from "./deadline.ts";
import type { StreamLoadResult, StreamLoadSpec } from "./programs/stream-load.ts";
import type { Run } from "./run.ts";

export type StreamLoad = Omit<StreamLoadSpec, "port" | "key" | "headers" | "upstreamPort">;

const slackMs = 30_000;

/** Opens streams through a contender, calls `meanwhile` when all are running, and resolves when all have ended successfully. */
export async function holdStreams(
  run: Run,
  contender: Contender,
  load: StreamLoad,
  meanwhile: () => Promise<void>,
): Promise<StreamLoadResult> {
  const { port, key, headers = [] } = contender;
  const spec: StreamLoadSpec = { ...load, port, key, headers, upstreamPort: run.upstreamPort };
  const child = startChild({ command: run.programs("stream-load", spec), cores: run.cores.load });
  const what = `${load.streams} streams through ${contender.name}`;
  try {
    const openMs = (load.streams / load.openPerSecond) * 1000 + 2 * load.gapMs;
    if ((await within(child.line(), openMs + slackMs, `${what}: opening`)) === null)
      throw new Error(`${what}: no load`);
    await meanwhile();
    const line = await within(child.line(), load.windowMs + slackMs, `${what}: ending`);
    const result: StreamLoadResult = JSON.parse(line ?? "null");
    if (result.failed > 0) throw new Error(`${what}: ${result.failed} failed, the first with ${result.firstFailure}`);
    return result;
  } finally {
    await child.stop(500);
  }
}
