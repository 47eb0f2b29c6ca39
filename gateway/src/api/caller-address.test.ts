import { expect, test } from "bun:test";
import { CallerAddress } from "./caller-address.ts";

/** The warnings after calls of these peers, each with `X-Forwarded-For`. */
function warningsFor(trustedProxies: readonly string[], ...peers: string[]) {
  const logged: unknown[] = [];
  const callers = new CallerAddress(trustedProxies, { log: (_level, _text, fields) => logged.push(fields) });
  for (const peer of peers) callers.of(peer, new Headers({ "x-forwarded-for": "203.0.113.7" }));
  return logged;
}

test("logs an untrusted private proxy once", () => {
  expect(warningsFor([], "127.0.0.1", "127.0.0.1")).toEqual([{ proxy: "127.0.0.1" }]);
  expect(warningsFor(["192.0.2.0/24"], "192.0.2.1", "10.0.0.3", "10.0.0.4")).toEqual([{ proxy: "10.0.0.3" }]);
});

test("logs no warning for a trusted proxy, or for a public caller with its own header", () => {
  expect(warningsFor(["127.0.0.1/32"], "127.0.0.1")).toEqual([]);
  expect(warningsFor([], "8.8.8.8")).toEqual([]);
});
