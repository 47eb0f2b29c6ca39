import type { Kysely, KyselyPlugin } from "kysely";

/** The statements that a migration runs, recorded while it runs. */
export function recording<Tables>(kysely: Kysely<Tables>): {
  readonly kysely: Kysely<Tables>;
  readonly statements: string[];
} {
  const statements: string[] = [];
  const executor = kysely.getExecutor();
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      statements.push(executor.compileQuery(node as never, queryId).sql);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return { kysely: kysely.withPlugin(plugin), statements };
}

/**
 * The statements of a migration that break programs of the previous version: drops, renames, and constraints on their writes.
 * Objects created by the same migration do not count. Effects on the stored data are not checked.
 */
export function contractions(statements: readonly string[]): readonly string[] {
  const plain = statements.map((statement) =>
    statement.toLowerCase().replaceAll(/["`]/g, "").replaceAll(/\s+/g, " ").trim(),
  );
  const made = new Set(plain.flatMap((statement) => statement.match(madeTable)?.[1] ?? []));
  const indexes = new Set(plain.flatMap((statement) => statement.match(madeIndex)?.[1] ?? []));
  return plain.filter((statement) => {
    const dropped = statement.match(/^drop index (?:if exists )?(\S+)/)?.[1];
    if (dropped !== undefined) return !indexes.has(dropped);
    const table = statement.match(tableNamed)?.[1];
    if (table !== undefined && made.has(table)) return statement.includes(" rename to ");
    return contracting.some((pattern) => pattern.test(statement));
  });
}

const madeTable = /^create table (?:if not exists )?(\w+)/;
const madeIndex = /^create (?:unique )?index (?:if not exists )?(\w+)/;
const tableNamed = /^(?:alter table|drop table(?: if exists)?|create unique index(?: if not exists)? \w+ on) (\w+)/;

const contracting: readonly RegExp[] = [
  /^drop (?!index)/,
  /^alter table .* drop (?:column|constraint|default)\b/,
  /^alter table .* rename\b/,
  /^alter table .* alter column \S+ (?:type|set data type|set not null|drop default)\b/,
  /^alter table .* add (?:constraint|check|unique|primary key|foreign key)\b/,
  /^alter table .* add column (?=.*\bnot null\b)(?!.*\bdefault\b)/,
  /^alter table .* (?:detach partition|set schema)\b/,
  /^create unique index\b/,
];
