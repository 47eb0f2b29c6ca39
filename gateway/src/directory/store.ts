import type { ProviderConfig } from "@sluice/contract/config-file";
import type { AuditSource, Clock, Ids, Vault } from "#ports/index.ts";
import { type AuditedWrite, auditedWrite, type Database, type ManagedBy } from "#storage/tables.ts";

/** What a store needs. */
export interface Directory {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The same for those who open what is sealed. */
export interface SealedDirectory extends Directory {
  readonly vault: Vault;
}

/**
 * What is known of a kind of provider outside this module, for a provider with these settings; null for a kind nobody
 * knows. `problem` says what is wrong with the settings.
 */
export type KindDefaults = (
  kind: string,
  provider: ProviderConfig,
) => { readonly baseUrl: string | null; readonly problem?: string | null } | null;

export interface ControlDirectory extends SealedDirectory {
  readonly kindDefaults: KindDefaults;
}

/** A write under way, whoever makes it: the admin API, the command line, the config file or an identity provider. */
export interface Write extends Directory, AuditedWrite {}
export interface SealedWrite extends SealedDirectory, AuditedWrite {}
export interface ControlWrite extends ControlDirectory, AuditedWrite {
  /** Who owns the objects from now on. */
  readonly owner: ManagedBy;
}

/** Functions that take what they stand on first, without it. */
export type Reads<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (context: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** Each function runs in a transaction of its own and takes the audit source as its last argument. */
export type Writes<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (under: never, ...rest: infer Rest) => infer Result
    ? (...rest: [...Rest, auditSource: AuditSource]) => Result
    : never;
};

/** A store of functions. Each of `writes` runs in a transaction of its own, and what it makes belongs to the console. */
export function bindStore<Context extends Directory, Reading extends object, Writing extends object>(
  context: Context,
  reads: Reading & Readonly<Record<string, (context: Context, ...rest: never[]) => unknown>>,
  writes: Writing & Readonly<Record<string, (under: never, ...rest: never[]) => Promise<unknown>>>,
): Reads<Reading> & Writes<Writing> {
  const reading = Object.entries(reads).map(([name, read]) => [name, read.bind(null, context)] as const);
  const writing = Object.entries(writes).map(([name, write]) => {
    const bound = (...given: unknown[]) =>
      auditedWrite({ ...context, owner: "console" as const }, given.pop() as AuditSource, (under) =>
        write(under as never, ...(given as never[])),
      );
    return [name, bound] as const;
  });
  return Object.fromEntries([...reading, ...writing]) as Reads<Reading> & Writes<Writing>;
}
