import type { Pool } from "pg";
import type { ServerSession } from "../database.ts";

/** The one connection of a pool of its own, held from here to its end. */
export async function openServerSession(pool: Pool): Promise<ServerSession> {
  pool.on("error", () => undefined);
  const client = await pool.connect().catch(async (error: unknown) => {
    await pool.end();
    throw error;
  });
  let isOver = false;
  let ended: Promise<void> | null = null;
  const session: ServerSession = {
    run: async (statement) => (await client.query(statement)).rows,
    onNotice: () => undefined,
    onEnd: () => undefined,
    get isOver() {
      return isOver;
    },
    async end() {
      over();
      ended ??= pool.end();
      await ended;
    },
  };
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    // Not given back to anybody: it is cut, also when the server is silent.
    client.release(true);
    session.onEnd();
  };
  client.on("notification", (message: { readonly payload?: string }) => session.onNotice(message.payload ?? ""));
  client.on("error", over);
  client.on("end", over);
  return session;
}
