import { expect, test } from "bun:test";
import { readInteractionRequest } from "./request.ts";

test("finds the stores that tools name, behind a text of any length", () => {
  for (const length of [10, 10_000]) {
    const tools = [{ type: "file_search", file_search_store_names: ["fileSearchStores/a"] }];
    const body = Buffer.from(JSON.stringify({ input: "x".repeat(length), model: "m", tools }));
    expect(readInteractionRequest(body).objects).toMatchObject([{ id: "fileSearchStores/a", kind: "vector_store" }]);
  }
});
