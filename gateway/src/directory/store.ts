import type { ProviderConfig } from "@sluice/contract/config-file";
import type { AuditSource, Clock, Ids, Vault } from "#ports/index.ts";
import { type AuditedWrite, auditedWrite, type Database, type ManagedBy } from "#storage/tables.ts";

export interface Directory {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** For stores that encrypt. */
export interface SealedDirectory extends Directory {
  readonly vault: Vault;
}

/** The defaults of a provider type for a provider with these settings; null: unknown type. `problem`: an error in the settings. */
export type KindDefaults = (
  kind: string,
  provider: ProviderConfig,
) => { readonly baseUrl: string | null; readonly problem?: string | null } | null;

export interface ControlDirectory extends SealedDirectory {
  readonly kindDefaults: KindDefaults;
}

/** The context of a write by the admin API, the command line, the config file or an identity provider. */
export interface Write extends Directory, AuditedWrite {}
export interface SealedWrite extends SealedDirectory, AuditedWrite {}
export interface ControlWrite extends ControlDirectory, AuditedWrite {
  /** The manager of the written objects. */
  readonly owner: ManagedBy;
}

/** The functions without their first parameter. */
export type Reads<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (context: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** The functions without their first parameter. Each runs in its own transaction and takes the audit source as its last argument. */
export type Writes<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (context: never, ...rest: infer Rest) => infer Result
    ? (...rest: [...Rest, auditSource: AuditSource]) => Result
    : never;
};

/** Binds functions to a context. Objects that `writes` create are managed by the console. */
export function bindStore<Context extends Directory, Reading extends object, Writing extends object>(
  context: Context,
  reads: Reading & Readonly<Record<string, (context: Context, ...rest: never[]) => unknown>>,
  writes: Writing & Readonly<Record<string, (context: never, ...rest: never[]) => Promise<unknown>>>,
): Reads<Reading> & Writes<Writing> {
  const reading = Object.entries(reads).map(([name, read]) => [name, read.bind(null, context)] as const);
  const writing = Object.entries(writes).map(([name, write]) => {
    const bound = (...args: unknown[]) =>
      auditedWrite({ ...context, owner: "console" as const }, args.pop() as AuditSource, (context) =>
        write(context as never, ...(args as never[])),
      );
    return [name, bound] as const;
  });
  return Object.fromEntries([...reading, ...writing]) as Reads<Reading> & Writes<Writing>;
}
