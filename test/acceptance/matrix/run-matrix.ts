import type { TestSetup } from "../open-setup.ts";
import type { Caller, Exchange } from "./call-spec.ts";
import type { Case, CaseContext } from "./case.ts";
import { limitOf } from "./known-limits.ts";
import { type Records, readSettled } from "./settled.ts";
import { matrixUpstreams, modelOn, type Upstream } from "./upstreams.ts";

/** The result of one pair, with its failures by case. */
export interface PairResult {
  readonly caller: string;
  readonly upstream: string;
  readonly total: number;
  readonly faults: readonly { readonly case: string; readonly what: string }[];
}

interface LaterCheck {
  readonly requestId: string;
  readonly check: (records: Records) => void;
}

/** How many pairs run in parallel: enough to use the machine, few enough to keep failures readable. */
const concurrency = 8;

/** Runs every case of every pair against an open gateway. */
export async function runMatrix(
  setup: TestSetup,
  callers: readonly Caller[],
  cases: readonly Case[],
  upstreamsOf: (caller: Caller) => readonly Upstream[] = () => matrixUpstreams,
): Promise<readonly PairResult[]> {
  const pairs = callers.flatMap((caller) => upstreamsOf(caller).map((upstream) => new Pair(caller, upstream, cases)));
  const waiting = pairs.values();
  const work = async (): Promise<void> => {
    for (const pair of waiting) await pair.run();
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  const settled = await readSettled(setup.gateway, setup.simulator);
  for (const pair of pairs) pair.runLaterChecks(settled.find);
  return pairs.map((pair) => pair.result());
}

class Pair {
  readonly #caller: Caller;
  readonly #upstream: Upstream;
  readonly #cases: readonly Case[];
  readonly #laterChecks: { readonly name: string; readonly checks: LaterCheck[] }[] = [];
  readonly #faults = new Map<string, string>();

  constructor(caller: Caller, upstream: Upstream, cases: readonly Case[]) {
    this.#caller = caller;
    this.#upstream = upstream;
    this.#cases = cases;
  }

  async run(): Promise<void> {
    for (const matrixCase of this.#cases) {
      const checks: LaterCheck[] = [];
      this.#laterChecks.push({ name: matrixCase.name, checks });
      try {
        await (limitOf(this.#caller, this.#upstream, matrixCase.name) ?? matrixCase).run(this.#context(checks));
      } catch (thrown) {
        this.#faults.set(matrixCase.name, messageOf(thrown));
      }
    }
  }

  runLaterChecks(find: (requestId: string) => Records): void {
    for (const { name, checks } of this.#laterChecks) {
      for (const { requestId, check } of checks) {
        if (this.#faults.has(name)) break;
        try {
          check(find(requestId));
        } catch (thrown) {
          this.#faults.set(name, `afterwards, ${requestId}: ${messageOf(thrown)}`);
        }
      }
    }
  }

  result(): PairResult {
    return {
      caller: this.#caller.name,
      upstream: this.#upstream.name,
      total: this.#cases.length,
      faults: [...this.#faults].map(([name, what]) => ({ case: name, what })),
    };
  }

  #context(checks: LaterCheck[]): CaseContext {
    const caller = this.#caller;
    const upstream = this.#upstream;
    return {
      caller,
      upstream,
      model: modelOn(upstream),
      failing: (purpose) => modelOn(upstream, failingName(caller, purpose)),
      checkLater: (exchange, check) => checks.push({ requestId: requestIdOf(exchange), check }),
    };
  }
}

/** The name of a failing model. Each caller has its own, so that no caller is affected by another's open circuit breaker. */
export function failingName(caller: Caller, purpose: string): string {
  return `${purpose}/${caller.name.replaceAll(" ", "-")}`;
}

function requestIdOf(exchange: Exchange): string {
  const id = exchange.headers.get("x-request-id");
  if (id === null) throw new Error("the answer has no x-request-id");
  return id;
}

/** Removes the test runner's colors and line breaks from a message. */
function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text
    .replaceAll(colorCode, "")
    .replaceAll(/\s*\n\s*/g, " ")
    .slice(0, 600);
}

const colorCode = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
