import type { DBAdapter, DBTransactionAdapter, Where } from "better-auth/types";
import { tokenDigest } from "./sessions.ts";

/**
 * The library's way to its database, with session tokens stored as digests: who reads the database, or a copy of it, can
 * open no session. What the library looks up by a token comes back with that token; from any other look-up the digest
 * comes back, which opens nothing.
 */
export function hashedSessions(inner: DBAdapter): DBAdapter {
  return { ...hashed(inner), transaction: (work) => inner.transaction((within) => work(hashed(within))) } as DBAdapter;
}

type Within = DBTransactionAdapter;

function hashed(inner: Within): Within {
  const asked = <Query extends { model: string; where?: Where[] | undefined }>(query: Query): Query =>
    query.model === "session" && query.where !== undefined ? { ...query, where: query.where.map(byDigest) } : query;
  return {
    ...inner,
    create: async (query) => {
      const row = query.data as { readonly token?: unknown };
      if (query.model !== "session" || typeof row.token !== "string") return await inner.create(query);
      const made = await inner.create({ ...query, data: { ...query.data, token: tokenDigest(row.token) } });
      return withTokens(made, [row.token]) as never;
    },
    findOne: async (query) => withTokens(await inner.findOne(asked(query)), tokensOf(query)) as never,
    findMany: async (query) => {
      const rows = await inner.findMany(asked(query));
      return rows.map((row) => withTokens(row, tokensOf(query))) as never;
    },
    update: async (query) => withTokens(await inner.update(asked(withoutToken(query))), tokensOf(query)) as never,
    updateMany: (query) => inner.updateMany(asked(withoutToken(query))),
    count: (query) => inner.count(asked(query)),
    delete: (query) => inner.delete(asked(query)),
    deleteMany: (query) => inner.deleteMany(asked(query)),
    consumeOne: async (query) => withTokens(await inner.consumeOne(asked(query)), tokensOf(query)) as never,
    incrementOne: async (query) => withTokens(await inner.incrementOne(asked(query)), tokensOf(query)) as never,
  };
}

function byDigest(where: Where): Where {
  if (where.field !== "token") return where;
  if (typeof where.value === "string") return { ...where, value: tokenDigest(where.value) };
  if (Array.isArray(where.value)) return { ...where, value: where.value.map((token) => tokenDigest(String(token))) };
  return where;
}

/** A session's token is given when it is made and never again. */
function withoutToken<Query extends { model: string; update: Record<string, unknown> }>(query: Query): Query {
  if (query.model !== "session" || !("token" in query.update)) return query;
  const { token: _token, ...update } = query.update;
  return { ...query, update };
}

function tokensOf(query: { model: string; where?: Where[] | undefined }): readonly string[] {
  if (query.model !== "session") return [];
  return (query.where ?? []).flatMap(({ field, value }) => (field === "token" ? [value].flat().map(String) : []));
}

function withTokens(row: unknown, tokens: readonly string[]): unknown {
  if (tokens.length === 0 || typeof row !== "object" || row === null || !("token" in row)) return row;
  const token = tokens.find((each) => tokenDigest(each) === row.token);
  return token === undefined ? row : { ...row, token };
}
