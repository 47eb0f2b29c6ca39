import { expect, test } from "bun:test";
import { isHost, isLoopbackHost } from "./variable-reader.ts";

test("only addresses of this machine count as loopback", () => {
  for (const host of ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost", "::ffff:127.0.0.1"]) {
    expect(isLoopbackHost(host)).toBe(true);
  }
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "localhost.example.com", "127.1", "example.com", ""]) {
    expect(isLoopbackHost(host)).toBe(false);
  }
});

test("a host to listen on is an address or a name, nothing more", () => {
  for (const host of ["0.0.0.0", "::", "[::]", "sluice", "a.b-c.example"]) expect(isHost(host)).toBe(true);
  for (const host of ["", "a:80", "http://a", "a b", "-a", "a/", "a".repeat(254)]) expect(isHost(host)).toBe(false);
});
