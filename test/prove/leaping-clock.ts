/**
 * The clock of one database, which all its processes go by: functions of its own stand before PostgreSQL's in its search path, so that
 * time can leap for all of them at once while none of them runs. Connections that stand already know nothing of it.
 */
export class LeapingClock {
  readonly #sql: Bun.SQL;
  #aheadMs = 0;

  private constructor(sql: Bun.SQL) {
    this.#sql = sql;
  }

  /** For whoever connects from now on. */
  static async of(sql: Bun.SQL): Promise<LeapingClock> {
    const clock = new LeapingClock(sql);
    await clock.leap(0);
    const [row] = await sql`select current_database() as name`;
    await sql.unsafe(`alter database "${row.name}" set search_path = public, pg_catalog`);
    return clock;
  }

  /** How far it is ahead of the machine's, in milliseconds. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  async leap(ms: number): Promise<void> {
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
