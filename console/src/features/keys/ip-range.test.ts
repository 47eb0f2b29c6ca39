import { expect, test } from "bun:test";
import { isIpRange } from "./ip-range.ts";

test.each(["203.0.113.7", "10.0.0.0/8", "0.0.0.0/0", "2001:db8::1", "2001:db8::/32", "::1", "::ffff:10.0.0.1"])(
  "%s is an address or a range",
  (text) => expect(isIpRange(text)).toBe(true),
);

test.each([
  "",
  "10.0.0",
  "256.0.0.1",
  "10.0.0.0/33",
  "10.0.0.0/8/8",
  "2001:db8::/129",
  "example.com",
  "10.0.0.0/",
  "x:y",
])("%s is none", (text) => expect(isIpRange(text)).toBe(false));
