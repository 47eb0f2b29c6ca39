import { expect, test } from "bun:test";
import { isHost } from "./variable-reader.ts";

test("accepts only an IP address or a host name as a host", () => {
  for (const host of ["0.0.0.0", "::", "[::]", "sluice", "a.b-c.example"]) expect(isHost(host)).toBe(true);
  for (const host of ["", "a:80", "http://a", "a b", "-a", "a/", "a".repeat(254)]) expect(isHost(host)).toBe(false);
});
