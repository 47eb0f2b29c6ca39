import { expect, test } from "bun:test";
import { failureLine } from "./failure-line.ts";

test("a failure is one line that cannot control the terminal", () => {
  expect(failureLine(new Error("bad name\n  old\u001b]0;title\u0007"))).toBe("bad name; old ]0;title");
});
