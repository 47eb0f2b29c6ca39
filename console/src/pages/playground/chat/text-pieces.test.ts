import { expect, test } from "bun:test";
import { piecesOf } from "./text-pieces.ts";

test("fenced code stands apart from the words, an open fence reaches to the end", () => {
  const text = "Look:\n\n```ts\nconst a = 1;\n\n```\nand\n~~~\n``` inside\n~~~\n```sh\nls";
  expect(piecesOf(text)).toEqual([
    { kind: "words", text: "Look:", language: "" },
    { kind: "code", text: "const a = 1;\n", language: "ts" },
    { kind: "words", text: "and", language: "" },
    { kind: "code", text: "``` inside", language: "" },
    { kind: "code", text: "ls", language: "sh" },
  ]);
  expect(piecesOf("")).toEqual([]);
  expect(piecesOf("a `b` ```c``` d")).toEqual([{ kind: "words", text: "a `b` ```c``` d", language: "" }]);
});
