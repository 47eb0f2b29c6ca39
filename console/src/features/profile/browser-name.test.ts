import { expect, test } from "bun:test";
import { browserName } from "./browser-name.ts";

test("a session is named after its browser and system, if they are recognized", () => {
  const edge = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0";
  const iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1";
  expect(browserName(edge)).toBe("Edge on Windows");
  expect(browserName(iphone)).toBe("Safari on iOS");
  expect(browserName("curl/8.9")).toBe("curl/8.9");
  expect(browserName(null)).toBe("Unknown");
});
