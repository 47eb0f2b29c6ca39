import type { Kysely, Migration } from "kysely";
import type { Connection, Flavour } from "./database.ts";
import { putSystemValue, systemValue } from "./system-values.ts";

/**
 * One migration. Most only add, so that programs of the version before go on beside those of this one; see
 * docs/adding-a-migration.md.
 */
export interface SchemaStep extends Migration {
  /**
   * Of a migration that takes something away, renames it or makes it stricter: the name of the earliest migration whose programs
   * work on what it leaves. A program that knows only earlier ones refuses to start on it.
   */
  readonly contractsFrom?: string;
}

/** Every migration in the order of its name. */
export type Migrations = Readonly<Record<string, (flavour: Flavour) => SchemaStep>>;

/** The setting that says, to programs that do not know the newest migrations, the earliest one that they must know. */
const compatibleFrom = "schema.compatible_from";

/** Tells programs of other versions, in the transaction of the migration, from which schema on they work on this one. */
export function withCompatibility(known: Migrations, name: string, flavour: Flavour): Migration {
  const step = known[name]?.(flavour);
  if (step === undefined) throw new Error(`there is no migration ${name}`);
  return {
    async up(connection: Kysely<unknown>): Promise<void> {
      await step.up(connection);
      await putSystemValue(connection as Connection, compatibleFrom, earliestOf(known, name, flavour));
    },
  };
}

/** The earliest migration that a program must know to work on this schema; null where no version has said so. */
export async function readCompatibleFrom(connection: Connection): Promise<string | null> {
  return await systemValue(connection, compatibleFrom);
}

function earliestOf(known: Migrations, name: string, flavour: Flavour): string {
  const said = Object.entries(known).flatMap(([other, make]) =>
    other <= name ? [make(flavour).contractsFrom ?? ""] : [],
  );
  return said.toSorted().at(-1) ?? "";
}
