import type { postgresFacts as facts, openPostgres as open } from "./database/postgres/open-postgres.ts";
import type { moveToPostgres as move } from "./move/move-to-postgres.ts";

/** Loaded on demand: installations with SQLite need none of it. */
export const openPostgres: typeof open = async (options) => {
  const late = await import("./database/postgres/open-postgres.ts");
  return await late.openPostgres(options);
};

export const postgresFacts: typeof facts = async (url) => {
  const late = await import("./database/postgres/open-postgres.ts");
  return await late.postgresFacts(url);
};

export const moveOver: typeof move = async (options) => {
  const late = await import("./move/move-to-postgres.ts");
  return await late.moveToPostgres(options);
};
