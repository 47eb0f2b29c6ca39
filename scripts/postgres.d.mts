/** Starts a PostgreSQL server for tests. If that fails, `url` is null and `why` is the reason. */
export function startPostgres(options?: { readonly keepsCommits?: boolean }): Promise<TestPostgres>;

/** The folder of the server's programs; null if no version that is new enough is installed. */
export function postgresPrograms(): string | null;

export interface TestPostgres {
  readonly url: string | null;
  readonly why: string | null;
  /** Pauses, resumes, kills or restarts the server, or fills or frees its disk. Resolves when that is done. Linux only. */
  control(command: "pause" | "resume" | "kill" | "start" | "fill-disk" | "free-disk"): Promise<void>;
  stop(): Promise<boolean>;
}
