import { type CallShape, callRequest } from "../call-request.ts";
import { type Exchange, RawConnection } from "../raw-connection.ts";
import { type Quantiles, quantiles } from "../statistics.ts";
import { answer, readSpec } from "./spec.ts";

/**
 * Measures the latency of every response under light load. Lanes run concurrently; the targets of one lane get requests in turn, so that
 * other load affects each of them equally.
 */
export interface ProbeSpec {
  readonly lanes: readonly ProbeLane[];
}

export interface ProbeLane {
  readonly targets: readonly ProbeTarget[];
  /** Interval between the requests of a lane. 0: the next request follows each response. */
  readonly everyMs: number;
  /** Consecutive requests to a target before the next one. */
  readonly inARow: number;
  /** Number of measured requests to each target. */
  readonly count: number;
  /** Number of warm-up requests before them. */
  readonly warmUp: number;
}

interface ProbeTarget extends CallShape {
  readonly name: string;
}

/** Milliseconds. */
export interface ProbeResult {
  readonly name: string;
  readonly total: Quantiles;
  readonly firstBody: Quantiles;
  /** Number of responses other than 200, which make a figure invalid. */
  readonly failed: number;
}

class Target {
  readonly totals: number[] = [];
  readonly firsts: number[] = [];
  failed = 0;
  readonly #shape: ProbeTarget;
  readonly #request: Buffer;
  #connection: RawConnection | null = null;

  constructor(shape: ProbeTarget) {
    this.#shape = shape;
    this.#request = callRequest(shape);
  }

  async ask(counted: boolean): Promise<void> {
    this.#connection ??= await RawConnection.open(this.#shape.port);
    try {
      const exchange = await this.#connection.exchange(this.#request);
      if (exchange.status !== 200) this.failed++;
      else if (counted) this.#note(exchange);
    } catch {
      this.failed++;
      this.#connection = null;
    }
  }

  result(): ProbeResult {
    return {
      name: this.#shape.name,
      total: quantiles(this.totals),
      firstBody: quantiles(this.firsts),
      failed: this.failed,
    };
  }

  #note(exchange: Exchange): void {
    this.totals.push(exchange.endedAt - exchange.startedAt);
    this.firsts.push(exchange.firstBodyAt - exchange.startedAt);
  }
}

async function runLane(lane: ProbeLane): Promise<ProbeResult[]> {
  const targets = lane.targets.map((shape) => new Target(shape));
  const rounds = Math.ceil((lane.warmUp + lane.count) / lane.inARow);
  let due = performance.now();
  for (let round = 0; round < rounds; round++) {
    for (const target of targets) {
      for (let turn = 0; turn < lane.inARow; turn++) {
        due = Math.max(due + lane.everyMs, performance.now());
        if (lane.everyMs > 0) await Bun.sleep(due - performance.now());
        await target.ask(round * lane.inARow + turn >= lane.warmUp);
      }
    }
  }
  return targets.map((target) => target.result());
}

const spec = readSpec<ProbeSpec>();
answer(await Promise.all(spec.lanes.map(runLane)));
process.exit(0);
