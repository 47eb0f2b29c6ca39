import type { Migration } from "kysely";

/** Members, invitations, admin tokens, notices, and what the console keeps of keys. */
export function migration008(): Migration {
  return {
    async up() {},
  };
}
