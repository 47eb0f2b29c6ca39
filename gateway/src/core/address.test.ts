import { expect, test } from "bun:test";
import { addressKey, isLoopbackHost, networksOf } from "./address.ts";

test("groups IPv6 addresses by /64, and each IPv4 address separately in either spelling", () => {
  expect(addressKey("2001:db8:1:2::1")).toBe(addressKey("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  expect(addressKey("2001:db8:1:2::1")).not.toBe(addressKey("2001:db8:1:3::1"));
  expect(addressKey("::ffff:192.0.2.1")).toBe(addressKey("192.0.2.1"));
  expect(addressKey("192.0.2.1")).not.toBe(addressKey("192.0.2.2"));
  expect(addressKey("")).toBe(addressKey("not an address"));
});

test("finds an IPv6 address in its /48, /56 and /64, an IPv4 address in its /24 and itself", () => {
  expect(networksOf("2001:db8:1:2ff::1")).toEqual([
    "ipv6 20010db80001",
    "ipv6 20010db8000102",
    "ipv6 20010db8000102ff",
  ]);
  expect(networksOf("192.0.2.1")).toEqual(["ipv4 c00002", "ipv4 c0000201"]);
  expect(networksOf("::ffff:192.0.2.1")).toEqual(networksOf("192.0.2.1"));
  expect(networksOf("")).toEqual(["unknown"]);
});

test("only addresses of this machine count as loopback", () => {
  for (const host of ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost", "::ffff:127.0.0.1"]) {
    expect(isLoopbackHost(host)).toBe(true);
  }
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "localhost.example.com", "127.1", "example.com", ""]) {
    expect(isLoopbackHost(host)).toBe(false);
  }
});
