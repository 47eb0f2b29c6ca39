import { afterEach, expect, test } from "bun:test";
import { hostname, userInfo } from "node:os";
import { auditSource } from "./open.ts";

const before = process.env["SUDO_USER"];
afterEach(() => {
  if (before === undefined) delete process.env["SUDO_USER"];
  else process.env["SUDO_USER"] = before;
});

const own = userInfo().username;

test.each([
  [undefined, own],
  ["", own],
  ["ann", `ann as ${own}`],
  [own, own],
  ["CORP\\ann.b-c@d", `CORP\\ann.b-c@d as ${own}`],
  ["ann) (root\n", `annroot as ${own}`],
  ["a".repeat(100), `${"a".repeat(64)} as ${own}`],
])("with SUDO_USER %p the audit log names %s", (behind, name) => {
  if (behind === undefined) delete process.env["SUDO_USER"];
  else process.env["SUDO_USER"] = behind;
  expect(auditSource).toEqual({ actor: `command line (${name}@${hostname()})`, ip: null });
});
