/** A server of the tests; `url` is null where there is none, and `why` says it then. */
export function startPostgres(): Promise<{
  readonly url: string | null;
  readonly why: string | null;
  stop(): Promise<boolean>;
}>;
