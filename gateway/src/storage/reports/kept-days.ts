import type { FigureSums } from "./report-figures.ts";

/** What is kept of past days, for each who answers; of the dearest in them how many, and how many others are looked up as well. */
const reportDaysBytesMax = 8 * 1024 * 1024;
const reportDearestKept = 200;
const reportContendersMax = 100;

/** A known day or a part of it, and what says that its hours are as they were. */
export interface KnownTime {
  readonly from: number;
  readonly to: number;
  readonly version: string;
}

/** What a line of a chart, by its number, has in one step. */
export interface KnownRow {
  readonly step: number;
  readonly line: number;
  readonly sums: FigureSums;
}

export interface RankSums {
  readonly nano: number;
  readonly attempts: number;
}

/** The dearest of many known times, and what each of the others costs at most; null: there are no others. */
export interface Ranking {
  readonly dearest: ReadonlyMap<string, RankSums>;
  readonly othersNanoMax: number | null;
}

interface Question {
  /** By where each time begins. */
  readonly times: Map<number, { readonly of: KnownTime; readonly rows: readonly KnownRow[]; readonly bytes: number }>;
  ranking: { readonly of: string; readonly ranking: Ranking; readonly bytes: number } | null;
  bytes: number;
}

/**
 * What questions have found in days that are over, so that no hour of theirs is read twice for the same question. It counts only while its day
 * has the version that it was read at, so it is as right as the database itself; what was not asked for the longest leaves first.
 */
export class KeptDays {
  /** How many of the dearest are known of days, and how many others are looked up beside them. */
  readonly dearestMax: number;
  readonly contendersMax: number;
  readonly #bytesMax: number;
  readonly #questions = new Map<string, Question>();
  #bytes = 0;

  constructor(
    options: { readonly dearestMax?: number; readonly contendersMax?: number; readonly bytesMax?: number } = {},
  ) {
    this.dearestMax = options.dearestMax ?? reportDearestKept;
    this.contendersMax = options.contendersMax ?? reportContendersMax;
    this.#bytesMax = options.bytesMax ?? reportDaysBytesMax;
  }

  /** About how much it holds. */
  get bytes(): number {
    return this.#bytes;
  }

  rowsOf(question: string, { from, to, version }: KnownTime): readonly KnownRow[] | null {
    const kept = this.#used(question)?.times.get(from);
    return kept?.of.to === to && kept.of.version === version ? kept.rows : null;
  }

  keepRows(question: string, of: KnownTime, rows: readonly KnownRow[]): void {
    const kept = this.#made(question);
    let bytes = placeBytes;
    for (const { sums } of rows) {
      bytes += figureBytes + Object.values(sums.sketches).reduce((all, sketch) => all + sketch.length, 0);
    }
    this.#count(kept, bytes - (kept.times.get(of.from)?.bytes ?? 0));
    kept.times.set(of.from, { of, rows, bytes });
    this.#makeRoom();
  }

  rankingOf(question: string, times: readonly KnownTime[]): Ranking | null {
    const kept = this.#used(question)?.ranking ?? null;
    return kept?.of === named(times) ? kept.ranking : null;
  }

  keepRanking(question: string, times: readonly KnownTime[], ranking: Ranking): void {
    const kept = this.#made(question);
    const bytes = placeBytes + times.length * placeBytes + ranking.dearest.size * placeBytes;
    this.#count(kept, bytes - (kept.ranking?.bytes ?? 0));
    kept.ranking = { of: named(times), ranking, bytes };
    this.#makeRoom();
  }

  #used(question: string): Question | undefined {
    const kept = this.#questions.get(question);
    if (kept === undefined) return undefined;
    this.#questions.delete(question);
    this.#questions.set(question, kept);
    return kept;
  }

  #made(question: string): Question {
    const kept = this.#used(question) ?? { times: new Map(), ranking: null, bytes: 0 };
    if (!this.#questions.has(question)) {
      this.#questions.set(question, kept);
      this.#count(kept, placeBytes + question.length);
    }
    return kept;
  }

  #count(kept: Question, bytes: number): void {
    kept.bytes += bytes;
    this.#bytes += bytes;
  }

  #makeRoom(): void {
    for (const [question, { bytes }] of this.#questions) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#questions.delete(question);
      this.#bytes -= bytes;
    }
  }
}

function named(times: readonly KnownTime[]): string {
  return times.map(({ from, to, version }) => `${from} ${to} ${version}`).join();
}

/** About what an entry of a map takes, and the sums of one line without their sketches. */
const placeBytes = 100;
const figureBytes = 500;
