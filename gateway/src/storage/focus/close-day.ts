import { createHash } from "node:crypto";
import { Failure, type PriceVersion } from "#core/index.ts";
import type { FocusCatalogue, FocusDay } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { isAfter, type PagePosition } from "../database/pages.ts";
import { priceReader } from "../database/price-rows.ts";
import type { NewRow } from "../database/schema.ts";
import { storedEntry } from "../ledger/ledger-columns.ts";
import { dayMs } from "../ledger/ledger-grains.ts";
import { prunedBefore } from "../ledger/ledger-prune.ts";
import { findFocusDay } from "./focus-days.ts";
import { readFocusNames } from "./focus-names.ts";
import { dateOf, focusLines } from "./focus-rows.ts";
import { FocusSums, storedSum } from "./focus-sums.ts";
import { changedDays, lateWorkspaces, writtenSums } from "./late-entries.ts";
import { packedText, unpackedText } from "./packed-text.ts";

const pageRows = 1_000;

/** Bounds of memory: the sums of a workspace that are added up at a time, and the rows of a part. */
export interface FocusBounds {
  readonly sums: number;
  readonly partRows: number;
}

const usualBounds: FocusBounds = { sums: 20_000, partRows: 2_000 };

export interface CloseFocusDay {
  readonly day: number;
  readonly catalogue: FocusCatalogue;
  /** Unix milliseconds. */
  readonly now: number;
  /** A new id for the parts of this attempt. */
  readonly run: string;
}

/**
 * Makes the FOCUS rows of a day final: of its entries, and of entries that earlier closed days have received since then. Several
 * processes may do this at the same time. Each writes parts under its own run; the first one that adds the day to `focus_days` wins.
 * Others, and runs that were interrupted, leave parts that do not count, and the next run removes them.
 */
export async function closeFocusDay(
  database: Database,
  order: CloseFocusDay,
  bounds: FocusBounds = usualBounds,
): Promise<FocusDay> {
  for (;;) {
    const closed = (await findFocusDay(database, order.day)) ?? (await new DayClosing(database, order, bounds).close());
    if (closed !== null) return closed;
  }
}

class DayClosing {
  readonly #database: Database;
  readonly #order: CloseFocusDay;
  readonly #bounds: FocusBounds;
  readonly #price: (version: string) => Promise<PriceVersion | null>;
  readonly #digest = createHash("sha256");
  #parts = 0;

  constructor(database: Database, order: CloseFocusDay, bounds: FocusBounds) {
    this.#database = database;
    this.#order = order;
    this.#bounds = bounds;
    this.#price = priceReader(database.kysely);
  }

  /**
   * null: repeat it, because another day, or this one, was closed meanwhile, or entries were deleted while they were read.
   */
  async close(): Promise<FocusDay | null> {
    const { day, run, now } = this.#order;
    const { kysely } = this.#database;
    const pruned = await prunedBefore(kysely);
    if (pruned > day) {
      throw new Failure("invalid_request", `The entries of ${dateOf(day)} were deleted after their retention.`);
    }
    await kysely.deleteFrom("focus_parts").where("day", "=", day).where("run", "=", run).execute();
    const { last } = await kysely
      .selectFrom("focus_days")
      .select((eb) => eb.fn.max<number | null>("seq").as("last"))
      .executeTakeFirstOrThrow();
    for (const workspaceId of await this.#workspacesOf(day)) await this.#writeDay(workspaceId);
    const checked = await this.#writeLate(pruned);
    const row = { day, seq: (last ?? 0) + 1, run, closed_at: now, digest: this.#digest.digest("hex") };
    const oldest = Math.min(day, ...checked.keys());
    const isWhole = (await prunedBefore(kysely)) <= oldest;
    const isFirst = isWhole && (await this.#settle(row, checked));
    await kysely
      .deleteFrom("focus_parts")
      .where("day", "=", day)
      .where("run", isFirst ? "!=" : "=", run)
      .execute();
    return isFirst ? await findFocusDay(this.#database, day) : null;
  }

  /** False: another process closed this day, or another one, first. */
  async #settle(row: NewRow<"focus_days">, checked: ReadonlyMap<number, number | null>): Promise<boolean> {
    return await this.#database.kysely.transaction().execute(async (transaction) => {
      const added = await transaction
        .insertInto("focus_days")
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .returning("day")
        .executeTakeFirst();
      if (added === undefined) return false;
      for (const [day, touched] of checked) {
        if (touched === null) continue;
        await transaction
          .insertInto("focus_checks")
          .values({ day, touched })
          .onConflict((conflict) => conflict.column("day").doUpdateSet({ touched }))
          .execute();
      }
      return true;
    });
  }

  async #workspacesOf(day: number): Promise<readonly string[]> {
    const rows = await this.#database.kysely
      .selectFrom("usage_rollups")
      .select("workspace_id")
      .distinct()
      .where("hour", ">=", day)
      .where("hour", "<", day + dayMs)
      .orderBy("workspace_id")
      .execute();
    return rows.map(({ workspace_id }) => workspace_id);
  }

  /** The entries of a workspace. More scopes than the bound are written as more rows with the same scope. */
  async #writeDay(workspaceId: string): Promise<void> {
    const { day } = this.#order;
    const sums = new FocusSums();
    for await (const _ of this.#addEntries(sums, day, workspaceId)) {
      if (sums.size >= this.#bounds.sums) await this.#write(sums, day, workspaceId);
    }
    await this.#write(sums, day, workspaceId);
  }

  /** Yields after each page. */
  async *#addEntries(sums: FocusSums, day: number, workspaceId: string): AsyncGenerator<void> {
    let after: PagePosition = { at: day, id: "" };
    for (;;) {
      const rows = await this.#database.kysely
        .selectFrom("ledger_entries")
        .select(["at", "attempt_id", "record"])
        .where("workspace_id", "=", workspaceId)
        // The index is read from here on, not from the start of the day.
        .where("at", ">=", after.at)
        .where("at", "<", day + dayMs)
        .where(isAfter(["at", "attempt_id"], after, "oldest first"))
        .orderBy("at")
        .orderBy("attempt_id")
        .limit(pageRows)
        .execute();
      for (const row of rows) {
        const entry = storedEntry(row);
        sums.add(entry, entry.priceVersion === null ? null : await this.#price(entry.priceVersion));
      }
      const last = rows.at(-1);
      if (last === undefined) return;
      after = { at: last.at, id: last.attempt_id };
      yield;
    }
  }

  /** Entries of closed days that were recorded after they were closed. Returns the change counts of the days that were searched. */
  async #writeLate(pruned: number): Promise<ReadonlyMap<number, number | null>> {
    const checked = new Map<number, number | null>();
    for (const { day, touched } of await changedDays(this.#database, pruned)) {
      for (const workspaceId of await lateWorkspaces(this.#database, day)) {
        const sums = new FocusSums();
        for await (const _ of this.#addEntries(sums, day, workspaceId));
        for await (const written of writtenSums(this.#database, day, workspaceId)) sums.subtract(unpackedText(written));
        await this.#write(sums, day, workspaceId);
      }
      checked.set(day, touched);
    }
    return checked;
  }

  /** Writes sums as parts, and empties them. */
  async #write(sums: FocusSums, chargeDay: number, workspaceId: string): Promise<void> {
    const { day, run, catalogue } = this.#order;
    const scoped = sums.take();
    for (let from = 0; from < scoped.length; from += this.#bounds.partRows) {
      const some = scoped.slice(from, from + this.#bounds.partRows);
      const names = await readFocusNames(
        this.#database.kysely,
        some.map(([, { scope }]) => scope),
      );
      const lines: string[] = [];
      for (const [, sum] of some) {
        const { priceVersion } = sum.scope;
        const price = priceVersion === "" ? null : await this.#price(priceVersion);
        lines.push(...focusLines(sum, { day, chargeDay, names: names(sum.scope), catalogue, price }));
      }
      const csv = lines.join("");
      const digest = createHash("sha256").update(csv).digest("hex");
      this.#digest.update(digest);
      await this.#database.kysely
        .insertInto("focus_parts")
        .values({
          ...{ day, run, seq: ++this.#parts, charge_day: chargeDay, workspace_id: workspaceId },
          row_count: lines.length,
          attempts: some.reduce((count, [, { calls }]) => count + calls, 0),
          cost_nano_usd: Number(some.reduce((total, [, { cost }]) => total + cost, 0n)),
          digest,
          csv: packedText(csv),
          sums: packedText(some.map(([key, sum]) => storedSum(key, sum)).join("")),
        })
        .execute();
    }
  }
}
