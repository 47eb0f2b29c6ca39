import type { Migration } from "kysely";

/** Notices on budgets and what was told. */
export function migration010(): Migration {
  return {
    async up() {},
  };
}
