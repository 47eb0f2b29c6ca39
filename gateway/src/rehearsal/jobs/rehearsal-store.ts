import type { RehearsedChange } from "@sluice/contract/config-file";
import type { Rehearsal, RehearsalResult, RehearsalWithResult } from "@sluice/contract/console";
import { Failure, orNotFound } from "#core/index.ts";
import type { Clock, Ids } from "#ports/index.ts";
import { cursorOfText, cutPage, type Database, parseCursorText, type Row } from "#storage/tables.ts";

/** How long a job and its result are stored. */
const lifeMs = 86_400_000;
/** Of one user: jobs that wait or run, and all jobs. */
const openPerUserMax = 3;
const perUserMax = 50;
/** A job that its process did not note for so long is lost. Steps of the thread are shorter. */
const lostAfterMs = 120_000;

type JobRow = Row<"rehearsals"> & { readonly email: string | null; readonly user_name: string | null };
type SlugOf = (workspaceId: string) => string;

export interface NewRehearsal {
  readonly ownerId: string;
  readonly workspaceId: string | null;
  readonly change: RehearsedChange;
  readonly from: number;
  readonly to: number;
}

interface StoreOptions {
  readonly database: Database;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Ids;
  /** The id of this process. */
  readonly process: string;
  readonly slugOf: SlugOf;
}

/** The jobs of all processes. */
export class RehearsalStore {
  readonly #options: StoreOptions;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  /** Throws `rate_limit_exceeded` if too many of the owner's jobs are open. Removes expired jobs, and the owner's oldest. */
  async create({ ownerId, workspaceId, change, from, to }: NewRehearsal): Promise<Rehearsal> {
    const { database, clock, ids, process } = this.#options;
    const { kysely } = database;
    const now = clock.now();
    await kysely.deleteFrom("rehearsals").where("expires_at", "<=", now).execute();
    const own = await kysely
      .selectFrom("rehearsals")
      .select(["id", "state", "updated_at"])
      .where("owner_id", "=", ownerId)
      .orderBy("id", "desc")
      .execute();
    if (own.filter((row) => isOpen(row) && !isLost(row, now)).length >= openPerUserMax) {
      const message = `You have ${openPerUserMax} rehearsals that wait or run. Cancel one, or wait.`;
      throw new Failure("rate_limit_exceeded", message, { retryAfterMs: 10_000 });
    }
    const oldest = own.slice(perUserMax - 1).map(({ id }) => id);
    if (oldest.length > 0) await kysely.deleteFrom("rehearsals").where("id", "in", oldest).execute();
    const id = ids.next("reh_");
    await kysely
      .insertInto("rehearsals")
      .values({
        ...{ id, owner_id: ownerId, workspace_id: workspaceId, change: JSON.stringify(change) },
        ...{ from_at: from, to_at: to, state: "waiting", process, created_at: now, updated_at: now },
        expires_at: now + lifeMs,
      })
      .execute();
    return this.#shown(await this.#row(id));
  }

  async page(ownerId: string, cursor: string | null, limit: number) {
    let query = this.#rows()
      .where("owner_id", "=", ownerId)
      .orderBy("rehearsals.id", "desc")
      .limit(limit + 1);
    if (cursor !== null) query = query.where("rehearsals.id", "<", parseCursorText(cursor, /^(reh_.{1,64})$/)[0] ?? "");
    const { page, next } = cutPage(await query.execute(), limit, ({ id }) => cursorOfText(id));
    return { data: page.map((row) => this.#shown(row)), next };
  }

  /** Throws `not_found`. */
  async find(id: string): Promise<RehearsalWithResult> {
    const row = await this.#row(id);
    return { ...this.#shown(row), result: row.result === null ? null : (JSON.parse(row.result) as RehearsalResult) };
  }

  /** Does nothing if it is over. */
  async cancel(id: string): Promise<Rehearsal> {
    await this.#end(id, { state: "cancelled" });
    return this.#shown(await this.#row(id));
  }

  /** Notes the progress. False: the job was canceled or deleted. */
  async continues(id: string, { entries, progress }: { readonly entries: number; readonly progress: number }) {
    const { database, clock } = this.#options;
    const updated = await database.kysely
      .updateTable("rehearsals")
      .set({ state: "running", entries, progress, updated_at: clock.now() })
      .where("id", "=", id)
      .where("state", "in", ["waiting", "running"])
      .returning("id")
      .executeTakeFirst();
    return updated !== undefined;
  }

  /** False: the job is over or was deleted. */
  async isOpen(id: string): Promise<boolean> {
    const job = this.#options.database.kysely.selectFrom("rehearsals").select("state").where("id", "=", id);
    const found = await job.executeTakeFirst();
    return found !== undefined && isOpen(found);
  }

  /** Notes that the job still waits in this process. */
  async waits(id: string): Promise<void> {
    const { database, clock } = this.#options;
    const job = database.kysely.updateTable("rehearsals").set({ updated_at: clock.now() });
    await job.where("id", "=", id).where("state", "=", "waiting").execute();
  }

  async done(id: string, result: RehearsalResult): Promise<void> {
    await this.#end(id, { state: "done", progress: 1, result: JSON.stringify(result) });
  }

  async failed(id: string, problem: string): Promise<void> {
    await this.#end(id, { state: "failed", problem });
  }

  async #end(id: string, change: Partial<Pick<JobRow, "state" | "progress" | "result" | "problem">>): Promise<void> {
    const { database, clock } = this.#options;
    const now = clock.now();
    await database.kysely
      .updateTable("rehearsals")
      .set({ ...change, updated_at: now, ended_at: now })
      .where("id", "=", id)
      .where("state", "in", ["waiting", "running"])
      .execute();
  }

  async #row(id: string): Promise<JobRow> {
    return orNotFound(await this.#rows().where("rehearsals.id", "=", id).executeTakeFirst(), "rehearsal");
  }

  #rows() {
    const { database, clock } = this.#options;
    return database.kysely
      .selectFrom("rehearsals")
      .leftJoin("auth_users", "auth_users.id", "rehearsals.owner_id")
      .selectAll("rehearsals")
      .select(["auth_users.email", "auth_users.name as user_name"])
      .where("rehearsals.expires_at", ">", clock.now());
  }

  #shown(row: JobRow): Rehearsal {
    const { clock, slugOf } = this.#options;
    const lost = isOpen(row) && isLost(row, clock.now());
    return {
      id: row.id,
      state: lost ? "failed" : (row.state as Rehearsal["state"]),
      created_by: { id: row.owner_id, email: row.email ?? "", name: row.user_name ?? "" },
      workspace: row.workspace_id === null ? null : { id: row.workspace_id, slug: slugOf(row.workspace_id) },
      ...{ from: row.from_at, to: row.to_at, change: JSON.parse(row.change) as RehearsedChange },
      ...{ entries_read: row.entries, progress: row.progress },
      problem: lost ? "The process that ran it has ended. Start it again." : row.problem,
      ...{ created_at: row.created_at, ended_at: row.ended_at, expires_at: row.expires_at },
    };
  }
}

function isOpen({ state }: Pick<Row<"rehearsals">, "state">): boolean {
  return state === "waiting" || state === "running";
}

function isLost({ updated_at: updatedAt }: Pick<Row<"rehearsals">, "updated_at">, now: number): boolean {
  return now - updatedAt > lostAfterMs;
}
