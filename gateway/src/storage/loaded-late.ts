import type { postgresFacts as facts, openPostgres as open } from "./database/postgres/open-postgres.ts";
import type { moveOver as move } from "./move/move-over.ts";

/** What only a server's database needs: an installation with a file of its own loads none of it. */
export const openPostgres: typeof open = async (options) => {
  const late = await import("./database/postgres/open-postgres.ts");
  return await late.openPostgres(options);
};

export const postgresFacts: typeof facts = async (url) => {
  const late = await import("./database/postgres/open-postgres.ts");
  return await late.postgresFacts(url);
};

export const moveOver: typeof move = async (options) => {
  const late = await import("./move/move-over.ts");
  return await late.moveOver(options);
};
