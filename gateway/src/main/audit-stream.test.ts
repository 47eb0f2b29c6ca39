import { expect, test } from "bun:test";
import { systemClock } from "#system/index.ts";
import { startAuditStream } from "./upkeep.ts";

test("sums up what the first start created in one line, and writes every other entry", async () => {
  const entry = { at: 0, ip: null, action: "create", workspace: null, before: null, after: null };
  const entries = [
    { ...entry, seq: 1, actor: "first start", object: "provider openai" },
    { ...entry, seq: 2, actor: "first start", object: "model m" },
    { ...entry, seq: 3, actor: "first start", action: "set-price", object: "model m" },
    { ...entry, seq: 4, actor: "eve@example.com", object: "user eve@example.com" },
  ];
  const lines: Record<string, unknown>[] = [];
  const marked = Promise.withResolvers<string>();
  let end: Promise<void> = Promise.resolve();
  const stopping = new AbortController();
  startAuditStream({
    entriesAfter: async (from) => ("seq" in from ? [] : entries),
    facts: { read: async () => null, write: async (_, value) => marked.resolve(value) },
    clock: systemClock,
    observer: { log: (_, message, fields = {}) => void lines.push({ message, ...fields }) },
    leadership: {
      lead(_, work) {
        end = work({ signal: stopping.signal } as Parameters<typeof work>[0]);
        return { isLeading: true, stop: async () => {} };
      },
    },
  });
  expect(await marked.promise).toBe("4");
  stopping.abort();
  await end;
  expect(lines).toMatchObject([
    { message: "audit", auditId: 3, actor: "first start", objects: ["provider openai", "model m"] },
    { message: "audit", auditId: 4, actor: "eve@example.com", object: "user eve@example.com" },
  ]);
});
