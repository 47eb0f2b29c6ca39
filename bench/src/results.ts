import { type Figure, figure } from "./figure.ts";
import { writeResult } from "./keep-result.ts";
import { NoSharedServers } from "./shared-servers.ts";
import { table } from "./table.ts";

/** The results of a run. Each is written to disk immediately, so that later failures cannot lose it. */
export class Results {
  readonly #facts: () => Readonly<Record<string, unknown>>;
  readonly #mode: string;
  readonly #startedAt: Date;
  readonly #figures: Figure[] = [];
  readonly #seconds: Record<string, number> = {};
  /** Names of failed figures. */
  readonly failed: string[] = [];

  /** `facts`: data to store with the figures, read at each write. */
  constructor(mode: string, startedAt: Date, facts: () => Readonly<Record<string, unknown>>) {
    this.#mode = mode;
    this.#startedAt = startedAt;
    this.#facts = facts;
  }

  get table(): string {
    return table(this.#figures);
  }

  /** Does not reject if the measurement fails: the failure becomes a line of the result. Resolves to whether it succeeded. */
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
    process.stderr.write(`${seconds} s${good ? "" : ", failed"}\n`);
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
    const error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    process.stderr.write(`\n${error}\n`);
    return figure(`${name} failed`, [], { unit: "", note: error.split("\n", 1)[0] ?? "" });
  }
}
