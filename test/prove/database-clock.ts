/**
 * The clock of one database. Functions in the public schema replace PostgreSQL's clock functions, so that a test can move time
 * forward for all processes at once while none is running. Connections that are already open keep the real clock.
 */
export class DatabaseClock {
  readonly #sql: Bun.SQL;
  #aheadMs = 0;

  private constructor(sql: Bun.SQL) {
    this.#sql = sql;
  }

  /** Applies to connections that are opened from now on. */
  static async of(sql: Bun.SQL): Promise<DatabaseClock> {
    const clock = new DatabaseClock(sql);
    await clock.advance(0);
    const [row] = await sql`select current_database() as name`;
    await sql.unsafe(`alter database "${row.name}" set search_path = public, pg_catalog`);
    return clock;
  }

  /** How far the clock is ahead of the machine's, in milliseconds. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  async advance(ms: number): Promise<void> {
    this.#aheadMs += ms;
    for (const name of ["clock_timestamp", "now"]) {
      await this.#sql.unsafe(`create or replace function public.${name}() returns timestamptz language sql volatile
        as $$ select pg_catalog.${name}() + interval '${this.#aheadMs} milliseconds' $$`);
    }
  }

  /** Unix milliseconds. */
  async now(): Promise<number> {
    const [row] = await this.#sql`select floor(extract(epoch from public.clock_timestamp()) * 1000)::float8 as now`;
    return row.now;
  }
}
