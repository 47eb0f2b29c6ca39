/** A server of the tests; `url` is null where there is none, and `why` says it then. */
export function startPostgres(options?: { readonly keepsCommits?: boolean }): Promise<PostgresOfTests>;

/** The folder of the server's programs; null where there is none that is new enough. */
export function postgresPrograms(): string | null;

export interface PostgresOfTests {
  readonly url: string | null;
  readonly why: string | null;
  /** Linux only. Resolves when it has come to that: all its processes stand still, go on or are gone, or it serves again. */
  befalls(word: "pause" | "resume" | "kill" | "run" | "fill" | "free"): Promise<void>;
  stop(): Promise<boolean>;
}

/** The folder of the server's programs; null where there is none that is new enough. */
export function postgresPrograms(): string | null;
