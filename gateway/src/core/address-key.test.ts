import { expect, test } from "bun:test";
import { addressKey } from "./address-key.ts";

test("an address of IPv6 stands for its /64, one of IPv4 for itself in either spelling", () => {
  expect(addressKey("2001:db8:1:2::1")).toBe(addressKey("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  expect(addressKey("2001:db8:1:2::1")).not.toBe(addressKey("2001:db8:1:3::1"));
  expect(addressKey("::ffff:192.0.2.1")).toBe(addressKey("192.0.2.1"));
  expect(addressKey("192.0.2.1")).not.toBe(addressKey("192.0.2.2"));
  expect(addressKey("")).toBe(addressKey("not an address"));
});
