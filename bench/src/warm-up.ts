import type { Contender } from "./contender.ts";
import { measure } from "./measure.ts";
import type { Run } from "./run.ts";
import { type Saturation, saturate } from "./saturate.ts";

const turnsMax = 6;
const turnSeconds = 2;
/** Warm-up ends when a call still costs more than this share of its cost before. */
const stillShare = 0.96;

/** Sends load until the cost per call hardly decreases. A quick run does this once. */
export async function warmUp(run: Run, contender: Contender, load: Saturation): Promise<void> {
  if (run.options.mode === "quick" || contender.pid === null) {
    await saturate(run, contender, load);
    return;
  }
  let before = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < turnsMax; turn++) {
    const { value, cost } = await measure(contender, () => saturate(run, contender, { ...load, seconds: turnSeconds }));
    const micros = (cost.cpuMs * 1_000) / value.requests;
    if (micros >= before * stillShare) return;
    before = micros;
  }
}
