import type { Migration } from "kysely";

/** Why a request went as it did, and what was captured of it. */
export function migration007(): Migration {
  return {
    async up() {},
  };
}
