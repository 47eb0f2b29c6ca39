import type { Kysely, Migration } from "kysely";
import type { Connection, Flavour } from "./database.ts";
import { putSystemValue, systemValue } from "./system-values.ts";

/** A migration. Most are additive, so that programs of the previous version keep working; see docs/adding-a-migration.md. */
export interface SchemaStep extends Migration {
  /**
   * For a migration that removes, renames or restricts something: the earliest migration that is compatible with it. Programs with an
   * older schema refuse to start.
   */
  readonly contractsFrom?: string;
}

/** Migrations by name, applied in the order of their names. */
export type Migrations = Readonly<Record<string, (flavour: Flavour) => SchemaStep>>;

/** The setting with the earliest migration that a program must know. */
const compatibleFrom = "schema.compatible_from";

/** Stores, in the migration's transaction, which programs can work with the schema. */
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

/** The earliest migration that a program must know; null: not stored. */
export async function readCompatibleFrom(connection: Connection): Promise<string | null> {
  return await systemValue(connection, compatibleFrom);
}

function earliestOf(known: Migrations, name: string, flavour: Flavour): string {
  const requirements = Object.entries(known).flatMap(([other, make]) =>
    other <= name ? [make(flavour).contractsFrom ?? ""] : [],
  );
  return requirements.toSorted().at(-1) ?? "";
}
