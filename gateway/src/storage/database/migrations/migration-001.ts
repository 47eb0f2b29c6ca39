import { type Kysely, sql } from "kysely";
import type { Flavour } from "../database.ts";
import type { SchemaStep } from "../schema-step.ts";
import { alertTables } from "./migration-001-alerts.ts";
import { batchTables } from "./migration-001-batches.ts";
import { billTables } from "./migration-001-bills.ts";
import { fileTables } from "./migration-001-files.ts";
import { configTables, importTables, installationTables, tenantTables } from "./migration-001-installation.ts";
import {
  guardrailCheckTables,
  ledgerTables,
  requestTables,
  rollupTables,
  sessionTables,
} from "./migration-001-ledger.ts";
import { agentTables, peopleTables, rightsTables, signInTables } from "./migration-001-people.ts";
import { rehearsalTables } from "./migration-001-rehearsals.ts";
import { assetTables, taskTables } from "./migration-001-tasks.ts";

/** The schema of the first release, as SQL for both databases. Never edited after its release: a change is a new migration. */
export function migration001(flavour: Flavour): SchemaStep {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      const statements = [
        ...installationTables(flavour),
        ...signInTables,
        ...tenantTables,
        ...configTables,
        ...importTables,
        ...peopleTables,
        ...rightsTables,
        ...agentTables,
        ...ledgerTables(flavour),
        ...rollupTables(flavour),
        ...sessionTables,
        ...requestTables,
        ...guardrailCheckTables,
        ...taskTables,
        ...assetTables,
        ...batchTables,
        ...fileTables,
        ...alertTables,
        ...rehearsalTables,
        ...billTables,
      ];
      for (const statement of statements) await sql.raw(withTypes(statement, types[flavour.name])).execute(database);
    },
  };
}

type ColumnTypes = Readonly<Record<"text" | "moment" | "flag" | "sequence", string>>;

/**
 * Types that differ. PostgreSQL orders text by its bytes, as SQLite does, independent of the server's language. `moment` and `flag` are
 * types of the sign-in library; other times are Unix milliseconds, other flags 0 or 1. `sequence` never repeats a number.
 */
const types: Readonly<Record<Flavour["name"], ColumnTypes>> = {
  sqlite: {
    text: "text",
    moment: "text",
    flag: "integer",
    sequence: "integer not null primary key autoincrement",
  },
  postgres: {
    text: 'text collate "C"',
    moment: "timestamptz",
    flag: "boolean",
    sequence: "bigserial primary key",
  },
};

/** Each column has its own line: two spaces, its name, its type. */
function withTypes(statement: string, own: ColumnTypes): string {
  return statement.replaceAll(
    /^( {2}\w+ )(text|moment|flag|sequence)\b/gm,
    (_, name: string, type: keyof ColumnTypes) => name + own[type],
  );
}
