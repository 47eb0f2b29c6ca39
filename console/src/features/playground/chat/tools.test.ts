import { expect, test } from "bun:test";
import { readTools, sampleTools } from "./tools.ts";

test("the sample is valid, empty text means no tools, and errors are reported", () => {
  expect(readTools(sampleTools)).toMatchObject({ problem: null, tools: [{ type: "function" }] });
  expect(readTools(" ")).toEqual({ tools: [], problem: null });
  expect(readTools('[{"type":"web_search"}]').problem).toBeNull();
  expect(readTools("{").problem).toStartWith("Invalid JSON");
  expect(readTools("{}").problem).toContain("array");
  expect(readTools('[{"type":"function","function":{"name":"a"}},{"type":"function"}]').problem).toContain("Tool 2");
});
