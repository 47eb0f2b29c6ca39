import type { TestSetup } from "../open-setup.ts";
import type { Caller, Taped } from "./ask.ts";
import type { Case, Ground } from "./case.ts";
import { limitOf } from "./known-limits.ts";
import { readSettled, type Seen } from "./settled.ts";
import { matrixUpstreams, modelOn, type Upstream } from "./upstreams.ts";

/** How one pair did: what went wrong in which case. */
export interface PairResult {
  readonly caller: string;
  readonly upstream: string;
  readonly total: number;
  readonly faults: readonly { readonly case: string; readonly what: string }[];
}

interface Look {
  readonly requestId: string;
  readonly look: (seen: Seen) => void;
}

/** Pairs at the same time: enough to keep both ends busy, few enough to keep the order of failures readable. */
const atOnce = 8;

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
  await Promise.all(Array.from({ length: atOnce }, work));
  const settled = await readSettled(setup.gateway, setup.simulator);
  for (const pair of pairs) pair.look(settled.find);
  return pairs.map((pair) => pair.result());
}

class Pair {
  readonly #caller: Caller;
  readonly #upstream: Upstream;
  readonly #cases: readonly Case[];
  readonly #looks: { readonly name: string; readonly looks: Look[] }[] = [];
  readonly #faults = new Map<string, string>();

  constructor(caller: Caller, upstream: Upstream, cases: readonly Case[]) {
    this.#caller = caller;
    this.#upstream = upstream;
    this.#cases = cases;
  }

  async run(): Promise<void> {
    for (const one of this.#cases) {
      const looks: Look[] = [];
      this.#looks.push({ name: one.name, looks });
      try {
        await (limitOf(this.#caller, this.#upstream, one.name) ?? one).run(this.#ground(looks));
      } catch (thrown) {
        this.#faults.set(one.name, messageOf(thrown));
      }
    }
  }

  look(find: (requestId: string) => Seen): void {
    for (const { name, looks } of this.#looks) {
      for (const { requestId, look } of looks) {
        if (this.#faults.has(name)) break;
        try {
          look(find(requestId));
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

  #ground(looks: Look[]): Ground {
    const caller = this.#caller;
    const upstream = this.#upstream;
    return {
      caller,
      upstream,
      model: modelOn(upstream),
      failing: (purpose) => modelOn(upstream, failingName(caller, purpose)),
      later: (exchange, look) => looks.push({ requestId: requestIdOf(exchange), look }),
    };
  }
}

/** A failing model for each caller, so that no caller meets the breaker that another one has opened. */
export function failingName(caller: Caller, purpose: string): string {
  return `${purpose}/${caller.name.replaceAll(" ", "-")}`;
}

function requestIdOf(exchange: Taped): string {
  const id = exchange.headers.get("x-request-id");
  if (id === null) throw new Error("an answer without x-request-id");
  return id;
}

/** The runner's colours and blank lines are for a terminal, not for a list. */
function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text
    .replaceAll(colour, "")
    .replaceAll(/\s*\n\s*/g, " ")
    .slice(0, 600);
}

const colour = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
