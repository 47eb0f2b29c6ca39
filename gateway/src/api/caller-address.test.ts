import { expect, test } from "bun:test";
import { CallerAddress } from "./caller-address.ts";

/** The warnings after calls of these peers, each with `X-Forwarded-For`. */
function warningsFor(trustedProxies: readonly string[], ...peers: string[]) {
  const told: unknown[] = [];
  const callers = new CallerAddress(trustedProxies, { log: (_level, _text, fields) => told.push(fields) });
  for (const peer of peers) callers.of(peer, new Headers({ "x-forwarded-for": "203.0.113.7" }));
  return told;
}

test("a proxy near by that is not trusted is logged once, whether or not others are", () => {
  expect(warningsFor([], "127.0.0.1", "127.0.0.1")).toEqual([{ proxy: "127.0.0.1" }]);
  expect(warningsFor(["192.0.2.0/24"], "192.0.2.1", "10.0.0.3", "10.0.0.4")).toEqual([{ proxy: "10.0.0.3" }]);
});

test("no warning for a proxy that is trusted, or a caller of the internet that writes the header itself", () => {
  expect(warningsFor(["127.0.0.1/32"], "127.0.0.1")).toEqual([]);
  expect(warningsFor([], "8.8.8.8")).toEqual([]);
});
