import { type Figure, figure } from "./figure.ts";
import { writeResult } from "./keep-result.ts";
import { NoSharedServers } from "./shared-servers.ts";
import { table } from "./table.ts";

/** What a run has found so far. It is on the disk as soon as it is found, so that nothing later can lose it. */
export class Results {
  readonly #facts: () => Readonly<Record<string, unknown>>;
  readonly #mode: string;
  readonly #startedAt: Date;
  readonly #figures: Figure[] = [];
  readonly #seconds: Record<string, number> = {};
  /** Names of what went wrong. */
  readonly failed: string[] = [];

  /** `facts`: what stands beside the figures, as it is when they are kept. */
  constructor(mode: string, startedAt: Date, facts: () => Readonly<Record<string, unknown>>) {
    this.#mode = mode;
    this.#startedAt = startedAt;
    this.#facts = facts;
  }

  get table(): string {
    return table(this.#figures);
  }

  /** Never rejects for what is taken: one that goes wrong has a line that says how. True when it went well. */
  async take(name: string, measured: () => Promise<readonly Figure[]>): Promise<boolean> {
    const start = performance.now();
    process.stderr.write(`measuring ${name} … `);
    let good = true;
    try {
      this.#figures.push(...(await measured()));
    } catch (thrown) {
      good = false;
      this.#figures.push(this.#missing(name, thrown));
    }
    const seconds = Math.round((performance.now() - start) / 1000);
    this.#seconds[name] = seconds;
    process.stderr.write(`${seconds} s${good ? "" : ", and it went wrong"}\n`);
    await this.keep();
    return good;
  }

  /** Resolves to the file. */
  keep(): Promise<string> {
    const { failed } = this;
    return writeResult(this.#mode, this.#startedAt, {
      ...this.#facts(),
      seconds: this.#seconds,
      failed,
      figures: this.#figures,
    });
  }

  #missing(name: string, thrown: unknown): Figure {
    if (thrown instanceof NoSharedServers)
      return figure(`With PostgreSQL and Redis: ${name}`, [], { unit: "", note: thrown.message });
    this.failed.push(name);
    const said = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    process.stderr.write(`\n${said}\n`);
    return figure(`${name} went wrong`, [], { unit: "", note: said.split("\n", 1)[0] ?? "" });
  }
}
