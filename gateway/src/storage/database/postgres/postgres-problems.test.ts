import { expect, test } from "bun:test";
import { statementProblem } from "./postgres-problems.ts";

const serverError = (code: string, message: string) => Object.assign(new Error(message), { code });

test.each([
  ["53100", 'could not extend file "base/5/16384": No space left on device'],
  ["53200", "out of memory"],
  ["58030", 'could not fsync file "pg_wal/00000001": Input/output error'],
  ["XX000", "could not write to log file 00000001000000000000000A at offset 9330688, length 8192: File too large"],
])("a server without disk space or memory is unavailable, not a fault of the gateway (%s)", (code, message) => {
  const thrown = serverError(code, message);
  const problem = statementProblem(thrown, 5_000);
  expect(problem).toMatchObject({ code: "storage_unavailable", status: 503, cause: thrown });
  expect(String(problem)).not.toContain(message);
});

test.each([
  ["23505", "duplicate key value violates unique constraint"],
  ["XX000", "cache lookup failed for type 0"],
])("other errors stay as they are (%s)", (code, message) => {
  const thrown = serverError(code, message);
  expect(statementProblem(thrown, 5_000)).toBe(thrown);
});
